"""The OpenAPI document: the decorator that describes a view, and the schemas of answers and bodies, which are Structs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, cast, get_args, get_origin

import msgspec
from django.urls import register_converter
from django.urls.converters import StringConverter
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter, extend_schema
from msgspec import Struct

from chat.protocol.answer import Answer, subclasses
from chat.protocol.body import INVISIBLE, Body, invisible_text_pattern
from chat.protocol.states import Status
from chat.protocol.strict_json import UNSTORABLE_PATTERN
from chat.sessions.portable.format import Portable
from web.rest.errors import ErrorAnswer

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
    schema |= deepcopy(dict(struct.keywords))
    for part in objects(schema):
        if part.get("pattern") == INVISIBLE:
            part["pattern"] = invisible_text_pattern()
    if not schema["required"]:
        del schema["required"]


def _complete_value(schema: dict[str, Any]) -> None:
    """Describe which texts are storable, unless the text is one of few."""
    if (
        "string" in schema.get("type", ())
        and not {"format", "pattern", "enum", "anyOf", "contentMediaType"} & schema.keys()
    ):
        # A pattern matches whatever is no text.
        is_text = schema["type"] == "string"
        schema.setdefault("not", STORABLE["not"] | ({} if is_text else {"type": "string"}))
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


# The names of the security schemes.
COOKIE: Final = "cookieAuth"
LOGINS: Final = ("knoxApiToken", COOKIE)
ID: Final = {"type": "string", "format": "uuid"}
FLAG: Final = {"type": "string", "enum": ["0", "1"]}
TEXT: Final = {"type": "string", **STORABLE}


class IdConverter(StringConverter):
    """An id in a path. It accepts any text: views parse ids, so that a malformed id has its own error code."""


register_converter(IdConverter, "id")


def whole_number(least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most}


def documented(
    operation: str,
    *,
    body: Any = None,
    answer: Any = None,
    statuses: Sequence[int] = (200,),
    parameters: Sequence[OpenApiParameter] = (),
) -> Callable[[Any], Any]:
    """Describe a view method.

    operation: the operation's id, verb last. statuses: the statuses whose body is `answer`; a dict has the body of each
    media type. parameters: of the query, and headers. Errors have the body that the view names as `error_answer`, if it does.
    """
    answers = answer if isinstance(answer, dict) else {None: answer}
    responses: dict[Any, Any] = {
        (status, media_type) if media_type else status: one
        for status in statuses
        for media_type, one in answers.items()
    }
    responses |= {"4XX": ErrorAnswer, "5XX": ErrorAnswer}
    return extend_schema(
        operation_id=operation, request=body, responses=responses, parameters=list(parameters)
    )


def accepts(*logins: str) -> Callable[[Any], Any]:
    """Describe the LOGINS with which a view method may be called, if not all. An empty name means no login."""
    required: list[Any] = [{name: []} if name else {} for name in logins]
    return extend_schema(auth=required)


def query(name: str, schema: Mapping[str, Any], meaning: str, *, required: bool = False) -> OpenApiParameter:
    return OpenApiParameter(
        name, dict(schema), OpenApiParameter.QUERY, description=meaning, required=required
    )


class Schema(AutoSchema):
    """The description of one view."""

    def get_operation(self, *arguments: Any) -> dict[str, Any] | None:
        operation: dict[str, Any] | None = super().get_operation(*arguments)
        if operation is None:
            return None
        if "requestBody" in operation and getattr(self.get_request_serializer(), "needs_body", False):
            operation["requestBody"]["required"] = True
        for response in operation["responses"].values():
            response.setdefault("headers", {})["X-Request-ID"] = {
                "schema": {"type": "string"},
                "required": True,
                "description": "As in the request, or new.",
            }
        return operation

    def _get_response_for_code(self, serializer: Any, *arguments: Any, **options: Any) -> dict[str, Any]:
        """Describe responses as drf-spectacular does, and those of `list[Answer]`, which it does not know."""
        if serializer is ErrorAnswer:
            serializer = getattr(self.view, "error_answer", ErrorAnswer)
        if get_origin(serializer) is not list:
            return cast("dict[str, Any]", super()._get_response_for_code(serializer, *arguments, **options))  # type: ignore[no-untyped-call]
        [item] = get_args(serializer)
        response = cast("dict[str, Any]", super()._get_response_for_code(item, *arguments, **options))  # type: ignore[no-untyped-call]
        for content in response["content"].values():
            content["schema"] = {"type": "array", "items": content["schema"]}
        return response


class SessionFileSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The schema of a session file, whose types are not serializers."""

    target_class = Portable

    def get_name(self, auto_schema: Any, direction: Any) -> str:  # noqa: ARG002
        return "SessionFile"

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:  # noqa: ARG002
        _, types = msgspec.json.schema_components(
            [Portable], ref_template="#/components/schemas/SessionFile{name}"
        )
        for schema in objects(types):
            if "enum" in schema:
                schema["type"] = "integer" if isinstance(schema["enum"][0], int) else "string"
            elif schema.get("type") == "string" and not {"format", "pattern"} & schema.keys():
                schema.update(STORABLE)
        file: dict[str, Any] = types.pop(Portable.__name__)
        for name, schema in types.items():
            part = ResolvedComponent(f"SessionFile{name}", ResolvedComponent.SCHEMA, schema, name)  # type: ignore[no-untyped-call]
            auto_schema.registry.register_on_missing(part)
        return file
