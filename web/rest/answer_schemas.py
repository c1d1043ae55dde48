"""The schemas of answers and of bodies of requests, which are msgspec Structs, in the OpenAPI document."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.plumbing import ResolvedComponent
from msgspec import Struct

from chat.protocol.answer import Answer, subclasses
from chat.protocol.body import INVISIBLE, Body, invisible_text_pattern
from chat.protocol.states import Status
from chat.protocol.strict_json import UNSTORABLE_PATTERN

_COMPONENTS: Final = "#/components/schemas/"
# Sets of values that the settings name (ENUM_NAME_OVERRIDES).
RUN_STATUSES: Final = [str(status) for status in Status]
# Keywords of JSON Schema.
STORABLE: Final = {"not": {"pattern": UNSTORABLE_PATTERN}}


class AnswerSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The component of a Struct. The Structs that it refers to are registered too."""

    target_class: type[Struct] = Answer
    match_subclasses = True

    def get_name(self, auto_schema: Any, direction: Any) -> str:  # noqa: ARG002
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:  # noqa: ARG002
        components = describe([self.target])
        for struct in subclasses(self.target_class):
            name = struct.__name__
            if name not in components:
                continue
            self.complete(struct, components[name])
            if struct is not self.target:
                part = ResolvedComponent(name, ResolvedComponent.SCHEMA, components[name], struct)  # type: ignore[no-untyped-call]
                auto_schema.registry.register_on_missing(part)
        return components[self.target.__name__]

    def complete(self, struct: type[Any], schema: dict[str, Any]) -> None:
        """Add what the types of a Struct do not say."""


class BodySchema(AnswerSchema):  # type: ignore[no-untyped-call]
    """The component of the body of a request, whose texts must be storable."""

    target_class = Body

    def complete(self, struct: type[Any], schema: dict[str, Any]) -> None:
        _complete_body(struct, schema)


def complete_bodies(schemas: Mapping[str, dict[str, Any]]) -> None:
    """Add to the schemas of bodies, by name, what their types do not say."""
    for body in subclasses(Body):
        if body.__name__ in schemas:
            _complete_body(body, schemas[body.__name__])


def _complete_body(struct: type[Body], schema: dict[str, Any]) -> None:
    for part in objects(schema):
        _complete_value(part)
    schema |= struct.keywords
    if not schema["required"]:
        del schema["required"]


def _complete_value(schema: dict[str, Any]) -> None:
    """Describe which texts are storable, unless the text is one of few, and which are invisible."""
    if schema.get("pattern") == INVISIBLE:
        schema["pattern"] = invisible_text_pattern()
    if (
        "string" in schema.get("type", ())
        and not {"format", "pattern", "enum", "anyOf", "contentMediaType"} & schema.keys()
    ):
        # A pattern matches whatever is no text.
        is_nullable = "null" in schema["type"]
        schema.setdefault("not", STORABLE["not"] | ({"type": "string"} if is_nullable else {}))
    if "enum" in schema and "null" in schema.get("type", ()):
        schema["enum"] = [*schema["enum"], None]


def describe(answers: Sequence[type[Struct]]) -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas, by name, of Structs and of all Structs that they refer to, as in OpenAPI 3.1."""
    _, components = msgspec.json.schema_components(answers, ref_template=f"{_COMPONENTS}{{name}}")
    for schema in components.values():
        schema.pop("title")
        schema["required"].sort()
        for part in objects(schema):
            _merge_null(part)
            if "array" in part.get("type", ()):
                # Of any values: generators of clients leave out what does not say so.
                part.setdefault("items", {})
    return components


def _merge_null(schema: dict[str, Any]) -> None:
    """Write "a string or null" as one type, which client generators support better than alternatives."""
    if not any({"type", "$ref"} & alternative.keys() for alternative in schema.get("anyOf", ())):
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
