"""The base of the answers to clients, with the types of their members: one msgspec Struct for each answer. Pure.

The OpenAPI document (web/rest/openapi.py), the AsyncAPI document and the page's types are generated from these
classes, so that a new member is written once. The names of classes are those of components.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from functools import cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NamedTuple, Self, TypeVar, Union, cast, get_args, get_origin

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct, to_builtins
from msgspec.structs import fields

S = TypeVar("S")
T = TypeVar("T", bound=Struct)
# The name of classes that with_members() makes. A name that begins with _ is that of a class that is a base alone.
_GENERATED: Final = "_Generated"


class Answer(Struct):
    """An answer of the API. UNSET members are left out; ids, times and enumerated values are sent as strings."""

    @classmethod
    def from_row(cls, row: object, *parts: Struct, **members: Any) -> Self:
        """Build an answer from a row: required members that are not passed are its attributes of the same name.
        parts: Structs of the row, whose members are members of the answer."""
        names = [name for name in _required(cls) if name not in members]
        owners = {name: part for part in parts for name in part.__struct_fields__}
        return cls(**{name: getattr(owners.get(name, row), name) for name in names}, **members)

    def json(self) -> dict[str, Any]:
        """Return the answer as it is sent."""
        members: dict[str, Any] = to_builtins(self)
        return members


def subclasses(base: type[S]) -> Iterator[type[S]]:
    """Yield the classes below a class that are imported, without those that are bases alone."""
    for subclass in base.__subclasses__():
        if not subclass.__name__.startswith("_"):
            yield subclass
        yield from subclasses(subclass)


def with_members(
    base: type[T], struct: type[Struct], *, without: Collection[str] = (), are_optional: bool = False
) -> type[T]:
    """Return a base class with the members of another Struct too. without: those that are left out.
    are_optional: they are UNSET by default, and never null; else they are required."""
    has = {*base.__struct_fields__, *without}
    members: list[Any] = [
        (member.name, _without_null(member.type) | UnsetType, UNSET)
        if are_optional
        else (member.name, member.type)
        for member in fields(struct)
        if member.name not in has
    ]
    return cast("type[T]", defstruct(_GENERATED, members, bases=(base,), kw_only=True))


def _without_null(kind: Any) -> Any:
    inner, *notes = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    if get_origin(inner) in (Union, UnionType):
        inner = reduce(or_, (member for member in get_args(inner) if member is not NoneType))
    return Annotated[(inner, *notes)] if notes else inner


@cache
def _required(answer: type[Answer]) -> list[str]:
    return [field.name for field in fields(answer) if field.required]


# With a time zone: RFC 3339, in UTC.
Moment = Annotated[datetime, Meta(tz=True)]
# The id of a row, where it is at hand as a string.
Id = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
ADDRESS: Final = Meta(extra_json_schema={"format": "uri"})


def doc(text: str) -> Meta:
    """Return the description of a member."""
    return Meta(description=text)


def at_most(characters: int) -> Meta:
    """Return the annotation of a string whose length is limited in requests. What is stored is read whatever its length."""
    return Meta(extra_json_schema={"maxLength": characters})


def choice(values: Iterable[Any], text: str | None = None) -> Meta:
    """Return the annotation of a string that is one of `values`."""
    return Meta(description=text, extra_json_schema={"enum": [str(value) for value in values]})


class LimitUse(NamedTuple):
    """code: that of the limit.  max: None: there is no limit.  unit: what is counted, in the plural.

    resets_at: when `used` starts again at 0, UTC; None: it falls when something ends or is deleted.
    is_estimated: tokens that no server reported are counted too.
    """

    code: str
    used: int | Decimal
    max: int | Decimal | None
    unit: str
    resets_at: datetime | None = None
    is_estimated: bool = False


def plain_number(value: int | Decimal) -> int | float:
    """Return the number as JSON has it."""
    return value if isinstance(value, int) else float(value)
