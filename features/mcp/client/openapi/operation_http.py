"""Builds the request of an operation from a model's arguments, and turns the answer into text and JSON. Pure.

OpenAPI 3.1: Parameter Object, Style Values; Encoding Object for forms. It leaves open how lists and objects inside an
object of style `deepObject` are sent: as PHP, Rails and Stripe read them, `a[b][]=1` and `a[b][0][c]=1`.
"""

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from chat.protocol.strict_json import measured_storable
from features.mcp.client.configuration import MAX_RESULT_CHARACTERS, Answer, CallFailed, CallLost, cut_result
from features.mcp.client.openapi.api_operations import BODY, FORM, Place
from knowledge.fetching.guarded_client import GuardedRequest
from knowledge.texts.text_encodings import as_utf8

_SEPARATORS: Final = {"spaceDelimited": " ", "pipeDelimited": "|"}
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_UPWARD: Final = frozenset({".", ".."})


def build_request(operation: Mapping[str, Any], arguments: Mapping[str, Any]) -> GuardedRequest:
    """Build the request of a call. `operation`: of a listed tool. Raises CallFailed for values that cannot be sent."""
    url = str(operation["url"])
    query: list[tuple[str, str]] = []
    headers = {"Accept": "application/json, text/*;q=0.9, */*;q=0.5"}
    for place in (Place(*one) for one in operation["places"]):
        value = arguments.get(place.argument)
        if place.where == "path":
            url = url.replace(f"{{{place.name}}}", _in_path(place, value))
        elif value is None:
            continue
        elif place.where == "query":
            query += _in_query(place, value)
        else:
            headers[place.name] = _in_header(place, value)
    body = None
    if operation["content_type"] and BODY in arguments:
        body = _body(operation, arguments[BODY]).encode("utf-8", "replace")
        headers["Content-Type"] = operation["content_type"]
    return GuardedRequest(with_query(url, query), operation["method"], headers, body)


def with_query(url: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Return the address with more parameters of its query."""
    address, mark, fragment = url.partition("#")
    query = _encoded(pairs)
    joint = "&" if "?" in address else "?"
    return f"{address}{joint}{query}{mark}{fragment}" if query else url


def _body(operation: Mapping[str, Any], value: Any) -> str:
    """Encode the body as JSON or as a form. Raises CallFailed for a form that is no object."""
    if operation["content_type"] != FORM:
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict):
        raise CallFailed("The body has to be an object: it is sent as a form.")
    styles = {name: (style, explode) for name, style, explode in operation.get("fields", ())}
    pairs: list[tuple[str, str]] = []
    for name, one in value.items():
        # What the document says nothing about: lists by repeated names, objects as JSON.
        style, explode = styles.get(name, ("json" if isinstance(one, dict) else "form", True))
        if one is not None:
            pairs += _in_query(Place(name, "query", name, style, explode), one)
    return _encoded(pairs)


def _in_path(place: Place, value: Any) -> str:
    """Encode a value for the path. Raises CallFailed if it is empty or leads upward.
    A server may decode what is encoded before it walks the path.
    """
    text = _joined(place, value)
    if not text or _UPWARD & set(re.split(r"[/\\]", text)):
        raise CallFailed(f"This cannot be the value of {place.argument}.")
    return _quoted(text)


def _in_header(place: Place, value: Any) -> str:
    text = _joined(place, value)
    if _CONTROL.search(text):
        raise CallFailed(f"This cannot be the value of {place.argument}.")
    return text


def _in_query(place: Place, value: Any) -> Iterator[tuple[str, str]]:
    if place.style == "deepObject" and isinstance(value, (dict, list)):
        yield from _deep(place.name, value)
    elif place.style == "form" and place.explode and isinstance(value, dict):
        yield from ((name, _text(one)) for name, one in value.items())
    elif place.style != "json" and place.explode and isinstance(value, list):
        yield from ((place.name, _text(one)) for one in value)
    else:
        yield place.name, _joined(place, value)


def _deep(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for inner, one in value.items():
            yield from _deep(f"{name}[{inner}]", one)
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _deep(f"{name}[{index}]" if isinstance(one, (dict, list)) else f"{name}[]", one)
    else:
        yield name, _text(value)


def _joined(place: Place, value: Any) -> str:
    if place.style == "json":
        return json.dumps(value, ensure_ascii=False)
    separator = _SEPARATORS.get(place.style, ",")
    if isinstance(value, list):
        return separator.join(map(_text, value))
    if isinstance(value, dict):
        between = "=" if place.explode else separator
        return separator.join(f"{name}{between}{_text(one)}" for name, one in value.items())
    return _text(value)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _encoded(pairs: Iterable[tuple[str, str]]) -> str:
    return "&".join(f"{_quoted(name)}={_quoted(text)}" for name, text in pairs)


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")


_MAX_ERROR: Final = 1_000


class Received(NamedTuple):
    """The answer of a server. content_type: the header.  is_cut: the answer is longer."""

    status: int
    content_type: str
    content: bytes
    is_cut: bool = False

    @property
    def kind(self) -> str:
        return self.content_type.partition(";")[0].strip().lower()

    @property
    def text(self) -> str | None:
        """The content as text; None: it is no text."""
        charset = self.content_type.lower().partition("charset=")[2].strip(" \"'").partition(";")[0]
        text = as_utf8(self.content, charset)
        is_text = self.kind.startswith("text/") or self.kind.endswith(("json", "xml", "yaml", "javascript"))
        return text.decode("utf-8", "replace").removeprefix("\ufeff") if is_text or _is_utf8(text) else None


def read_answer(received: Received) -> Answer:
    """Convert an answer of the server. Raises CallFailed.
    Raises CallLost for a status of 500 or more: the server may have done something before it failed.
    """
    text = received.text
    if not 200 <= received.status < 300:
        problem = f"The server answered with status {_named(received.status)}{_excerpt(text)}"
        raise CallLost(problem) if received.status >= 500 else CallFailed(problem)
    if not received.content:
        return Answer(f"The server answered with status {_named(received.status)} and no content.")
    if text is None:
        kind = received.kind or "unknown type"
        return Answer(f"(A file of {_size(received)} bytes, {kind}, which cannot be shown here.)")
    is_json = received.kind == "application/json" or received.kind.endswith("+json")
    structured = _structured(text) if is_json and not received.is_cut else None
    return Answer(_shortened(text, is_cut=received.is_cut), structured=structured)


def _is_utf8(content: bytes) -> bool:
    """Return whether the content is text in UTF-8, even if it was cut off within a character."""
    try:
        getincrementaldecoder("utf-8")().decode(content)
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def _structured(text: str) -> dict[str, Any] | None:
    """Parse JSON; a value that is no object is wrapped, as the SDKs of MCP do. None: it is no JSON, or too long."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    wrapped = value if isinstance(value, dict) else {"result": value}
    found, length = measured_storable(wrapped) or (None, 0)
    return found if length <= MAX_RESULT_CHARACTERS else None


def _shortened(text: str, *, is_cut: bool) -> str:
    """Cut a text off for the model. `is_cut`: the length of the whole answer is not known."""
    if is_cut:
        return f"{text[:MAX_RESULT_CHARACTERS]}\n\n(Cut off: the answer is longer.)"
    return cut_result(text)


def _excerpt(text: str | None) -> str:
    excerpt = " ".join((text or "")[:_MAX_ERROR].split())
    return f": {excerpt}" if excerpt else "."


def _named(status: int) -> str:
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return str(status)


def _size(received: Received) -> str:
    return f"more than {len(received.content)}" if received.is_cut else str(len(received.content))
