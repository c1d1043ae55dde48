"""The schemas of answers, which are msgspec Structs, in the OpenAPI document."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.plumbing import ResolvedComponent
from msgspec import Struct

from chat.protocol.answer import Answer, all_answers
from chat.protocol.states import Status

_COMPONENTS: Final = "#/components/schemas/"
# Sets of values that config/enum_names.py names.
RUN_STATUSES: Final = [str(status) for status in Status]


class AnswerSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The component of a Struct. The Structs that it refers to are registered too."""

    target_class = Answer
    match_subclasses = True

    def get_name(self, auto_schema: Any, direction: Any) -> str:  # noqa: ARG002
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:  # noqa: ARG002
        components = describe([self.target])
        own = components.pop(self.target.__name__)
        by_name = {answer.__name__: answer for answer in all_answers()}
        for name, schema in components.items():
            part = ResolvedComponent(name, ResolvedComponent.SCHEMA, schema, by_name[name])  # type: ignore[no-untyped-call]
            auto_schema.registry.register_on_missing(part)
        return own


def describe(answers: Sequence[type[Struct]]) -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas, by name, of Structs and of all Structs that they refer to, as in OpenAPI 3.1."""
    _, components = msgspec.json.schema_components(answers, ref_template=f"{_COMPONENTS}{{name}}")
    for schema in components.values():
        schema.pop("title")
        schema["required"].sort()
        for part in objects(schema):
            _merge_null(part)
    return components


def _merge_null(schema: dict[str, Any]) -> None:
    """Write "a string or null" as one type, which client generators support better than alternatives."""
    if "anyOf" not in schema:
        return
    alternatives = schema.pop("anyOf")
    if any("type" not in one for one in alternatives):
        schema["oneOf"] = alternatives
        return
    for one in alternatives:
        schema |= one
    schema["type"] = [one["type"] for one in alternatives]


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects in a JSON value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict):
        yield value
    for one in inner:
        yield from objects(one)
