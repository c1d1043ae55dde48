"""Reads the operations of an OpenAPI document as tools: how models see them, and how their bodies are sent. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin

from features.mcp.client.openapi.api_document import (
    ApiDocument,
    DocumentRefused,
    SchemaReader,
    SchemaTooLarge,
)

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


MAX_OPERATIONS: Final = 500
# Of operations that are left out because of their schemas, which cost the most time.
_MAX_TOO_LARGE: Final = 100
READING: Final = frozenset({"get", "head"})
# RFC 9110, section 9.2.2.
IDEMPOTENT: Final = READING | {"put", "delete"}
_METHODS: Final = ("get", "head", "post", "put", "patch", "delete")
# How deep schemas are described; the deepest that fits is used.
_DEPTHS: Final = (10, 6, 3, 1)
_BUDGET: Final = 24_000
# Headers that OpenAPI does not accept as parameters, and headers of the connection and the client.
_NO_PARAMETERS: Final = frozenset(
    {"accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "cookie"}
    | {
        "host",
        "idempotency-key",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    }
)
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_STYLES: Final = {
    "path": ("simple",),
    "header": ("simple",),
    "query": QUERY_STYLES,
}
BODY: Final = "body"


class Place(NamedTuple):
    """Where a request has an argument's value. where: `path`, `query` or `header`.  style: OpenAPI's, or `json`."""

    argument: str
    where: str
    name: str
    style: str
    explode: bool


class Base(NamedTuple):
    """Where operations are. url: empty: where the document says.  document: its address; empty: it was pasted."""

    url: str
    document: str


class Operations(NamedTuple):
    """What is read of a document. tools: as McpServer.tools has them, without their names for models.
    left_out: by name of an operation, why it is left out, or what of it is.
    """

    tools: list[dict[str, Any]]
    left_out: dict[str, str]


def read_operations(
    document: ApiDocument,
    base: Base,
    chosen: Collection[str] = (),
    own: Collection[tuple[str, str]] = frozenset(),
) -> Operations:
    """Read the operations, `chosen` first. Raises DocumentRefused.

    own: where and the name of parameters that all calls have anyway; names of headers in lower case.
    """
    found = list(_operations(document))
    found.sort(key=lambda one: one[0] not in chosen)
    read = Operations([], {})
    too_large = 0
    for place, (name, path, method, operation, item) in enumerate(found):
        if len(read.tools) == MAX_OPERATIONS or too_large == _MAX_TOO_LARGE:
            read.left_out[f"{len(found) - place} more"] = f"at most {MAX_OPERATIONS} are listed"
            break
        try:
            address = _address(document, base, operation, item) + path
            parameters = _parameters(document, operation, item, own)
            read.tools.append(_describe(document, name, (method, path, address), operation, parameters))
            if method in READING and document.read(operation.get("requestBody")):
                read.left_out[name] = "its body alone: a GET has none"
        except Unusable as unusable:
            read.left_out[name] = str(unusable)
        except SchemaTooLarge:
            read.left_out[name] = "its schema is too large"
            too_large += 1
    if not read.tools:
        reasons = "".join(f" {name}: {reason}." for name, reason in list(read.left_out.items())[:1])
        raise DocumentRefused(f"The document describes no operation that can be called.{reasons}")
    return read


def _operations(
    document: ApiDocument,
) -> Iterator[tuple[str, str, str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the name, path and method of each operation, the operation, and the item of its path."""
    names: set[str] = set()
    paths = document.read(document.root.get("paths"))
    for path, item in paths.items():
        if not (isinstance(path, str) and path.startswith("/")):
            continue
        shared = document.read(item)
        for method in _METHODS:
            operation = shared.get(method)
            if not isinstance(operation, dict):
                continue
            name = operation.get("operationId")
            if not (isinstance(name, str) and name) or name in names:
                name = re.sub(r"[\W_]+", "_", f"{method}_{path}").strip("_")
            if name not in names:
                names.add(name)
                yield name, path, method, operation, shared


def _address(document: ApiDocument, base: Base, operation: Mapping[str, Any], item: Mapping[str, Any]) -> str:
    """Return the address of an operation, without its path. Raises DocumentRefused."""
    if base.url:
        return _without_query(base.url)
    for level in (operation, item, document.root):
        servers = level.get("servers")
        server = document.read(servers[0]) if isinstance(servers, list) and servers else {}
        if isinstance(server.get("url"), str):
            # An empty address is that of the host, not that of the document, below which there is nothing.
            url = _filled(server["url"].strip(), document.read(server.get("variables"))) or "/"
            break
    else:
        url = "/"
    try:
        address = urljoin(base.document, url)
    except ValueError:
        address = ""
    if not address.startswith(("http://", "https://")):
        raise DocumentRefused("The document does not say where its operations are: enter it as base_url.")
    return _without_query(address)


def _without_query(url: str) -> str:
    return re.split("[?#]", url)[0].rstrip("/")


def _filled(url: str, variables: Mapping[str, Any]) -> str:
    for name, variable in variables.items():
        if isinstance(variable, dict):
            url = url.replace(f"{{{name}}}", str(variable.get("default", "")))
    return url


def _parameters(
    document: ApiDocument,
    operation: Mapping[str, Any],
    item: Mapping[str, Any],
    own: Collection[tuple[str, str]],
) -> list[tuple[Place, Mapping[str, Any]]]:
    """Return the parameters that can be sent, with their places. Raises Unusable if a required one cannot."""
    declared: dict[tuple[str, str], Mapping[str, Any]] = {}
    for level in (item, operation):
        listed = level.get("parameters")
        for one in listed if isinstance(listed, list) else ():
            parameter = document.read(one)
            declared[str(parameter.get("in")), str(parameter.get("name"))] = parameter
    places: list[tuple[Place, Mapping[str, Any]]] = []
    arguments = {BODY}
    for (where, name), parameter in declared.items():
        key = name.lower() if where == "header" else name
        if (where, key) in own or (where == "header" and key in _NO_PARAMETERS):
            continue
        place = _place(where, name, parameter, arguments)
        if place:
            arguments.add(place.argument)
            places.append((place, parameter))
        elif parameter.get("required") is True:
            raise Unusable(f"its parameter {name} cannot be sent")
    return places


def _place(where: str, name: str, parameter: Mapping[str, Any], taken: Collection[str]) -> Place | None:
    """Return the place of a parameter; None: it cannot be sent."""
    styles = _STYLES.get(where, ())
    style = (
        "json"
        if isinstance(parameter.get("content"), dict)
        else parameter.get("style", styles[:1] and styles[0])
    )
    if style not in (*styles, "json") or not styles or (where == "header" and not _HEADER.fullmatch(name)):
        return None
    spelled = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:60]
    candidates = (spelled, f"{where}_{spelled}", *(f"{spelled}_{number}" for number in range(2, 20)))
    argument = next((one[:64] for one in candidates if one[:64] not in taken), None)
    if argument is None:
        return None
    explode = parameter.get("explode", style == "form")
    return Place(argument, where, name, style, explode is True)


def _describe(
    document: ApiDocument,
    name: str,
    at: tuple[str, str, str],
    operation: Mapping[str, Any],
    parameters: list[tuple[Place, Mapping[str, Any]]],
) -> dict[str, Any]:
    """Describe an operation as a tool. `at`: method, path, address. Raises Unusable, SchemaTooLarge."""
    method, path, address = at
    body = read_body(document, operation, has_body=method not in READING)
    placed = {place.name for place, _ in parameters if place.where == "path"}
    if mistaken := set(re.findall(r"\{([^{}]*)\}", path)) ^ placed:
        raise Unusable(f"the parameters of its path are declared otherwise: {', '.join(sorted(mistaken))}")
    texts = [operation.get("summary"), operation.get("description")]
    described = "\n\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())
    return {
        "tool": name,
        "description": described or f"{method.upper()} {path}",
        "parameters": _arguments(document, parameters, body and body.parameter),
        "read_only": method in READING,
        "destructive": method not in READING,
        "idempotent": method in IDEMPOTENT,
        "open_world": True,
        "operation": {
            "method": method.upper(),
            "url": address,
            "places": [list(place) for place, _ in parameters],
            "content_type": body.content_type if body else "",
            "fields": [list(field) for field in body.fields] if body else [],
        },
    }


def _arguments(
    document: ApiDocument, parameters: list[tuple[Place, Mapping[str, Any]]], body: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments. Raises SchemaTooLarge."""
    declared = [(place.argument, parameter) for place, parameter in parameters]
    required = [
        place.argument
        for place, parameter in parameters
        if place.where == "path" or parameter.get("required") is True
    ]
    if body is not None:
        declared.append((BODY, body))
        required += [BODY] if body["required"] is True else []
    for depth in _DEPTHS:
        reader = SchemaReader(document, depth, _BUDGET)
        try:
            properties = {argument: _argument(document, reader, one) for argument, one in declared}
        except SchemaTooLarge:
            continue
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }
    raise SchemaTooLarge


def _argument(document: ApiDocument, reader: SchemaReader, parameter: Mapping[str, Any]) -> dict[str, Any]:
    schema = parameter.get("schema")
    if schema is None:
        media = next(iter(document.read(parameter.get("content")).values()), None)
        schema = document.read(media).get("schema")
    read = reader.read(schema)
    if isinstance(parameter.get("description"), str) and parameter["description"]:
        read["description"] = parameter["description"][:1_000]
    return read
