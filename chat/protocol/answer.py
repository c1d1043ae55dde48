"""The base of the answers to clients: one msgspec Struct for each answer. Pure.

The OpenAPI document (web/rest/answer_schemas.py), the AsyncAPI document and the page's types are generated from these
classes, so that a new member is written once. The names of classes are those of components.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, Self, TypeVar

from msgspec import Struct, to_builtins
from msgspec.structs import fields

S = TypeVar("S")


class Answer(Struct):
    """An answer of the API. UNSET members are left out; ids, times and enumerated values are sent as strings."""

    @classmethod
    def from_row(cls, row: object, **members: Any) -> Self:
        """Build an answer from a row: required members that are not passed are its attributes of the same name."""
        return cls(**{name: getattr(row, name) for name in _required(cls) if name not in members}, **members)

    def json(self) -> dict[str, Any]:
        """Return the answer as it is sent."""
        members: dict[str, Any] = to_builtins(self)
        return members


def subclasses(base: type[S]) -> Iterator[type[S]]:
    """Yield the classes below a class that are imported."""
    for subclass in base.__subclasses__():
        yield subclass
        yield from subclasses(subclass)


@cache
def _required(answer: type[Answer]) -> list[str]:
    return [field.name for field in fields(answer) if field.required]
