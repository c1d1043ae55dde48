"""Writes web/server_types.d.ts, what the server sends and accepts, for the page's modules: `python -m tests.page_types` (make types).

From the same Structs as the OpenAPI and AsyncAPI documents; tests/web/page/test_page_types.py fails if the file is not what
they say.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.instance import ROOT

TARGET: Final = ROOT / "web" / "server_types.d.ts"
HEAD: Final = (
    "/** What the server sends and accepts. Written by `make types` from its msgspec Structs: do not edit. */"
)
NAMES: Final = {
    "integer": "number",
    "number": "number",
    "string": "string",
    "boolean": "boolean",
    "null": "null",
}


def render() -> str:
    """Needs Django, and the modules of the API."""
    import config.urls  # noqa: F401  imports all answers and bodies
    from chat.protocol.answer import Answer, subclasses
    from chat.protocol.body import Body
    from web.rest.openapi import complete_bodies, describe

    # A patched body is the Partial of its body.
    bodies = (body for body in subclasses(Body) if not body.__name__.startswith("Patched"))
    # Frames and commands of the socket have a tag; they are answers and bodies with `type` and `session`.
    structs = [struct for struct in (*subclasses(Answer), *bodies) if not struct.__struct_config__.tag]
    schemas = describe(structs)
    complete_bodies(schemas)
    lines = [line for name in sorted(schemas) for line in declare(name, schemas[name])]
    return "\n".join([HEAD, *lines, "", *render_socket(schemas)])


def render_socket(others: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the socket sends and accepts, in a namespace: `Error` is a type of the browser too."""
    from web.socket.asyncapi import SOCKET, build_document

    document = build_document([SOCKET])
    schemas = {
        name: schema for name, schema in document["components"]["schemas"].items() if name not in others
    }
    messages = {
        name: typed(message["payload"]) for name, message in document["components"]["messages"].items()
    }
    commands = {messages.pop(typed(reference)) for reference in document["operations"]["command"]["messages"]}
    yield "/** The commands and frames of the socket, and the packets in frames. */"
    yield "declare namespace wire {"
    for name in sorted(schemas):
        yield from (f"  {line}" if line else "" for line in declare(name, schemas[name]))
    yield ""
    yield f"  type Command = {' | '.join(sorted(commands))};"
    yield f"  type Frame = {' | '.join(sorted(messages.values()))};"
    yield "}"


def declare(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    if "properties" not in schema:
        yield f"type {name} = {typed(schema)};"
        return
    yield f"interface {name} {{"
    for member, described in schema["properties"].items():
        if "\n" not in described.get("description", "\n"):
            yield f"  /** {described['description']} */"
        yield f"  {declared(member, described, schema)}"
    yield "}"


def declared(member: str, described: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    return f"{member}{'' if member in schema.get('required', ()) else '?'}: {typed(described)};"


def typed(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "oneOf" in schema:
        return " | ".join(typed(alternative) for alternative in schema["oneOf"])
    if values := schema.get("enum", [schema["const"]] if "const" in schema else None):
        return " | ".join(map(json.dumps, values))
    kinds = schema.get("type", [])
    return (
        " | ".join(of_kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)) or "any"
    )


def of_kind(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "array":
        item = typed(schema.get("items", {}))
        return f"({item})[]" if " | " in item else f"{item}[]"
    if kind == "object" and "properties" in schema:
        members = (declared(member, described, schema) for member, described in schema["properties"].items())
        return f"{{ {' '.join(members)} }}"
    if kind == "object":
        return f"Record<string, {typed(schema.get('additionalProperties', {}))}>"
    return NAMES[kind]


if __name__ == "__main__":
    import os

    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    os.environ.setdefault("DEBUG", "1")
    django.setup()
    TARGET.write_text(render() + "\n", encoding="utf-8")
