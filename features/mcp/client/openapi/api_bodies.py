"""Reads how the body of an operation is sent: as JSON, or as a form. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from features.mcp.client.openapi.api_document import ApiDocument

FORM: Final = "application/x-www-form-urlencoded"
# Of parameters in a query, and of the fields of a form.
QUERY_STYLES: Final = ("form", "spaceDelimited", "pipeDelimited", "deepObject")
_RANKS: Final = {"application/json": 0, "text/json": 1, "*/*": 3, "application/*": 3, FORM: 4}
_NEVER: Final = 5
_MEDIA_TYPE: Final = re.compile(
    r"[A-Za-z0-9!#$&^_.+-]{1,60}/[A-Za-z0-9!#$&^_.+-]{1,60}(?:; ?[A-Za-z0-9=._-]{1,60})?"
)


class Unusable(Exception):
    """An operation that cannot be called. The message is the reason."""


class Body(NamedTuple):
    """A request body that can be sent. parameter: as a Parameter Object has it.  fields: of a form, the name, style and
    explode of those whose style the document says."""

    content_type: str
    parameter: Mapping[str, Any]
    fields: list[tuple[str, str, bool]]


def read_body(document: ApiDocument, operation: Mapping[str, Any], *, has_body: bool) -> Body | None:
    """Return the request body, JSON if the server takes it, else a form. None: neither, and none is required.
    Raises Unusable. has_body: whether requests of its method have one.
    """
    body = document.read(operation.get("requestBody"))
    contents = document.read(body.get("content"))
    kinds = {kind: str(kind).partition(";")[0].strip().lower() for kind in contents}
    ranked = [
        kind for kind in sorted(kinds, key=lambda kind: _rank(kinds[kind])) if _rank(kinds[kind]) < _NEVER
    ]
    if not (ranked and has_body):
        if body.get("required") is True:
            raise Unusable(
                "a GET has no body"
                if ranked
                else f"its body is of no type that is sent: {', '.join(kinds.values())}"[:100]
            )
        return None
    sent = ranked[0]
    media = document.read(contents[sent])
    parameter = {name: body.get(name) for name in ("required", "description")} | {
        "schema": media.get("schema", {})
    }
    if kinds[sent] == FORM:
        return Body(FORM, parameter, list(_fields(document, media)))
    is_named = _MEDIA_TYPE.fullmatch(sent) and "*" not in sent
    return Body(sent if is_named else "application/json", parameter, [])


def _rank(kind: str) -> int:
    """Return the place of a type among those that a body may be sent as: plain JSON, types that are JSON, any, a form."""
    if kind in _RANKS:
        return _RANKS[kind]
    return 2 if kind.endswith("+json") else _NEVER


def _fields(document: ApiDocument, media: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    for name, said in document.read(media.get("encoding")).items():
        encoding = document.read(said)
        if (style := encoding.get("style")) in QUERY_STYLES:
            yield str(name), style, encoding.get("explode", style == "form") is True
