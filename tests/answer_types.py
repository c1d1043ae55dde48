"""Writes web/answers.d.ts, the types of the API's answers for the page's modules: `python -m tests.answer_types` (make types).

From the same Structs as the OpenAPI document; tests/web/page/test_answer_types.py fails if the file is not what they say.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.instance import ROOT

TARGET: Final = ROOT / "web" / "answers.d.ts"
HEAD: Final = "/** What the API answers. Written by `make types` from the Structs of chat/presenters/ and web/rest/: do not edit. */"
NAMES: Final = {
    "integer": "number",
    "number": "number",
    "string": "string",
    "boolean": "boolean",
    "null": "null",
}


def render() -> str:
    """Needs Django, and the modules of the API."""
    import config.urls  # noqa: F401  imports all answers
    from chat.presenters.answer import all_answers
    from web.rest.answer_schemas import describe

    # Frames of the socket have a tag; they are the answers with `type` and `session`.
    answers = [answer for answer in all_answers() if not answer.__struct_config__.tag]
    schemas = describe(answers)
    return "\n".join([HEAD, *(line for name in sorted(schemas) for line in interface(name, schemas[name]))])


def interface(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield f"interface {name} {{"
    for member, described in schema["properties"].items():
        if "\n" not in described.get("description", "\n"):
            yield f"  /** {described['description']} */"
        yield f"  {member}{'' if member in schema['required'] else '?'}: {typed(described)};"
    yield "}"


def typed(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "oneOf" in schema:
        return " | ".join(typed(one) for one in schema["oneOf"])
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    kinds = schema.get("type", [])
    return (
        " | ".join(of_kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)) or "any"
    )


def of_kind(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "array":
        item = typed(schema.get("items", {}))
        return f"({item})[]" if " | " in item else f"{item}[]"
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
