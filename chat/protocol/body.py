"""Bodies of requests: msgspec Structs, from which come the validation of decoded JSON and its JSON Schema.

Types and limits stand in the Struct. A check that they cannot express is a rule of a member (`rule`), or of the whole
body in `__post_init__`. msgspec describes the types and does not validate: its errors have no codes (decision 0060).
"""

import json
import re
import sys
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Annotated, Any, ClassVar, Final, Self, TypeVar, cast, get_type_hints
from uuid import UUID

from msgspec import UNSET, Meta, Struct, defstruct, inspect, to_builtins

from chat.protocol.errors import ApiError
from chat.protocol.strict_json import UNSTORABLE_PATTERN

B = TypeVar("B", bound="Body")
Check = Callable[[Any], Any]
_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NOUNS: Final = {
    bool: "a boolean",
    str: "a string",
    int: "a number",
    float: "a number",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def parse_id(text: object) -> UUID | None:
    """Parse a UUID in its canonical spelling; return None for all others, although uuid.UUID accepts some."""
    return UUID(text) if isinstance(text, str) and _ID.fullmatch(text) else None


class Body(Struct, forbid_unknown_fields=True):
    # A docstring would be the description of every body in the OpenAPI document. Members that were left out are UNSET.

    # Keywords of JSON Schema for what __post_init__ checks.
    keywords: ClassVar[Mapping[str, Any]] = {}
    # Whether a request without a body is invalid although no member is required.
    needs_body: ClassVar[bool] = False

    @classmethod
    def parse(cls, value: object) -> Self:
        """Validate decoded JSON. Raises ApiError with the path of the first invalid member, in the Struct's order."""
        return cast("Self", _struct_check(cls)(value))

    def members(self) -> dict[str, Any]:
        """Return the members that were sent or have a default, by name; an inner body is a dict as well."""
        members = {name: getattr(self, name) for name in self.__struct_fields__}
        return {
            name: to_builtins(value) if isinstance(value, Body) else value
            for name, value in members.items()
            if value is not UNSET
        }


@cache
def patched(body: type[B]) -> type[B]:
    """Return the body of a PATCH: the same members, of which none is required or has a default."""
    hints = get_type_hints(body, include_extras=True)
    members: list[Any] = [(name, hints[name], UNSET) for name in body.__struct_fields__]
    namespace = {"__doc__": body.__doc__}
    name = f"Patched{body.__name__}"
    return cast("type[B]", defstruct(name, members, bases=(body,), namespace=namespace))


def rule(check: Check, keywords: Mapping[str, Any] | None = None, *, null: str = "invalid_type") -> Meta:
    """Return the annotation of a member with a further check; several are made in their order.

    check: returns what replaces the value; raises ApiError. keywords: of JSON Schema. null: the error code of null.
    """
    rules: dict[Any, str] = {check: null}
    return Meta(extra=rules, extra_json_schema=dict(keywords or {}))


@cache
def _struct_check(struct: type[Struct]) -> Check:
    described = cast("inspect.StructType", inspect.type_info(struct))
    members = {
        field.encode_name: (field.name, field.required, _check(field.type)) for field in described.fields
    }
    return partial(_check_struct, struct, members)


def _check(kind: inspect.Type) -> Check:
    """Return the function that validates values of a type."""
    return _CHECKS[type(kind)](kind)


def _check_nullable(kind: inspect.UnionType) -> Check:
    inner, _ = kind.types
    check = _check(inner)
    return lambda value: None if value is None else check(value)


def _check_with_rule(kind: inspect.Metadata) -> Check:
    check = _check(kind.type)
    keywords = kind.extra_json_schema or {}
    values, most = keywords.get("enum"), keywords.get("maxLength")
    rules = cast("dict[Check, str]", kind.extra or {})
    null_code = [*rules.values(), "invalid_type"][0]

    def check_with_rules(value: Any) -> Any:
        if value is None and null_code != "invalid_type":
            raise ApiError(null_code)
        value = check(value)
        if values and value not in values:
            raise ApiError(
                "invalid_value", f"One of {', '.join(map(_spell, values))}; not {_spell(value)[:100]}."
            )
        if most is not None:
            _check_size(None, most, len(value), " characters")
        for rule_check in rules:
            value = rule_check(value)
        return value

    return check_with_rules if values or most is not None or rules else check


def _spell(value: object) -> str:
    """Return how a value of an enumeration is named in an error."""
    return value if isinstance(value, str) else json.dumps(value)


def _check_type(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise ApiError(
            "invalid_type", f"Expected {_NOUNS[kind]}, got {_NOUNS.get(type(value), 'another type')}."
        )
    return value


def _check_text(kind: inspect.StrType, value: Any) -> Any:
    _check_type(str, value)
    _check_size(kind.min_length, kind.max_length, len(value), " characters")
    # In JSON Schema, $ matches only the end of the text.
    if kind.pattern is not None and not re.fullmatch(kind.pattern.strip("^$"), value):
        raise ApiError("invalid_value", f"The text does not match {kind.pattern}.")
    return value


def _check_number(kind: inspect.IntType | inspect.FloatType, value: Any) -> float:
    # JSON has one number type: 1.0 is an integer, and 1 a number.
    if isinstance(kind, inspect.IntType) and isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(kind, inspect.IntType) or not isinstance(value, float):
        _check_type(int, value)
    _check_size(kind.ge, kind.le, value)
    try:
        return value if isinstance(kind, inspect.IntType) else float(value)
    except OverflowError:
        raise ApiError("invalid_value", "The number is too large.") from None


def _check_size(least: float | None, most: float | None, size: float, unit: str = "") -> None:
    if least is not None and not size >= least:  # NaN is refused
        raise ApiError("invalid_value", f"At least {least}{unit}, not {str(size)[:100]}.")
    if most is not None and size > most:
        raise ApiError("invalid_value", f"At most {most}{unit}, not {str(size)[:100]}.")


def _check_id(value: Any) -> Any:
    parsed = parse_id(_check_type(str, value))
    if parsed is None:
        raise ApiError("invalid_id")
    return parsed


def _check_list(kind: inspect.ListType, check: Check, value: Any) -> list[Any]:
    _check_type(list, value)
    values = [_check_at(place, check, item) for place, item in enumerate(value)]
    _check_size(kind.min_length, kind.max_length, len(values), " values")
    return values


def _check_dict(check: Check, value: Any) -> dict[str, Any]:
    _check_type(dict, value)
    return {name: _check_at(name, check, item) for name, item in value.items()}


def _check_struct(struct: type[Struct], members: Mapping[str, tuple[str, bool, Check]], value: Any) -> Any:
    """Validate an object. members: by the name in JSON, the attribute, whether it is required, and its check."""
    if not isinstance(value, Mapping):
        _check_type(dict, value)
    for name in value:
        if name not in members and struct.__struct_config__.forbid_unknown_fields:
            raise ApiError("unknown_field", field=str(name)[:100])
    sent = {}
    for name, (attribute, is_required, check) in members.items():
        if name in value:
            sent[attribute] = _check_at(name, check, value[name])
        elif is_required:
            raise ApiError("field_required", field=name)
    return struct(**sent)


def _check_at(place: str | int, check: Check, value: Any) -> Any:
    """Validate a member or an item; its name or number begins the path in an error."""
    try:
        return check(value)
    except ApiError as error:
        error.field = f"{str(place)[:100]}.{error.field}" if error.field else str(place)[:100]
        raise


_CHECKS: Final[Mapping[type[inspect.Type], Callable[[Any], Check]]] = {
    inspect.AnyType: lambda _: lambda value: value,
    inspect.BoolType: lambda _: partial(_check_type, bool),
    inspect.UUIDType: lambda _: _check_id,
    inspect.StrType: lambda kind: partial(_check_text, kind),
    inspect.IntType: lambda kind: partial(_check_number, kind),
    inspect.FloatType: lambda kind: partial(_check_number, kind),
    inspect.ListType: lambda kind: partial(_check_list, kind, _check(kind.item_type)),
    inspect.DictType: lambda kind: partial(_check_dict, _check(kind.value_type)),
    inspect.StructType: lambda kind: _struct_check(kind.cls),
    inspect.UnionType: _check_nullable,
    inspect.Metadata: _check_with_rule,
}


MAX_MODELS: Final = 4
MAX_KNOWLEDGE_BASES: Final = 20
MAX_USER_NAME: Final = 150
# Days after which something ends: at most ten years.
LifetimeDays = Annotated[int, Meta(ge=1, le=3650)]
# Control, format (zero-width) and separator characters, and letters without a visible glyph.
_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Stands for invisible_text_pattern() until the document is written, since that takes a tenth of a second.
INVISIBLE: Final = "invisible"


def has_visible_text(text: str) -> bool:
    """Return whether the text has a visible character."""
    return any(_is_visible(character) for character in text)


def _is_visible(character: str) -> bool:
    return character not in _INVISIBLE and unicodedata.category(character) not in _INVISIBLE_CATEGORIES


@cache
def invisible_text_pattern() -> str:
    """Return a JSON Schema pattern that matches texts without a visible character. Takes a tenth of a second, once."""
    ranges: list[tuple[int, int]] = []
    for code in range(sys.maxunicode + 1):
        if _is_visible(chr(code)):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    invisible = "".join(f"{_escape(first)}-{_escape(last)}" for first, last in ranges)
    return f"^[{invisible}]*$"


def _escape(code: int) -> str:
    """Escape a code point for the pattern; above U+FFFF literally, since no escape is known to all regex dialects."""
    return f"\\u{code:04x}" if code <= 0xFFFF else chr(code)


def matches_none(*patterns: str) -> dict[str, Any]:
    """Return the keyword of JSON Schema for a text that can be stored and matches none of the patterns."""
    return {"not": {"anyOf": [{"pattern": pattern} for pattern in (UNSTORABLE_PATTERN, *patterns)]}}


def check_visible(text: str, code: str = "invalid_value") -> str:
    if not has_visible_text(text):
        raise ApiError(code)
    return text


def _check_models(least: int) -> Meta:
    def check(models: list[str]) -> list[str]:
        if not least <= len(models) <= MAX_MODELS or len(set(models)) != len(models):
            raise ApiError("models_invalid")
        return models

    keywords = {"minItems": least, "maxItems": MAX_MODELS, "uniqueItems": True}
    return rule(check, keywords, null="models_invalid")


def _remove_repeated(values: list[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


# A repeated value of the list counts once.
DISTINCT: Final = rule(_remove_repeated)
# A text with visible characters.
Visible = Annotated[str, rule(check_visible, matches_none(INVISIBLE))]
# A text that is not empty.
Text = Annotated[str, Meta(min_length=1)]
# Ids of knowledge bases. Whether the user is a member is checked when they are used.
KnowledgeBases = Annotated[list[UUID], Meta(max_length=MAX_KNOWLEDGE_BASES), DISTINCT]
# Whether the user exists is checked when the name is used.
UserName = Annotated[Visible, Meta(max_length=MAX_USER_NAME)]
_ModelName = Annotated[str, Meta(max_length=200)]
# Distinct names of models, at most as many as may answer together. Whether they exist is checked when they are used.
Models = Annotated[list[_ModelName], _check_models(0)]
SomeModels = Annotated[list[_ModelName], _check_models(1)]
