"""Tools of the caller: functions that the program which asked carries out itself, between two requests. Pure.

A run that calls them ends with these calls pending. The program sends their outputs with its next request, whose
answer begins with the rounds so far (Turn.given_rounds).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from msgspec import Struct, convert, to_builtins

# No name of a function.
ANY: Final = "*"


class CallerFunction(Struct, frozen=True):
    """A function. parameters: the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    strict: bool | None = None


class CallerTools(Struct, frozen=True):
    """The functions of a request. required: the one that the model calls first, or ANY; empty: it may answer at once."""

    functions: Sequence[CallerFunction] = ()
    required: str = ""

    @classmethod
    def from_json(cls, stored: Mapping[str, Any] | None) -> Self:
        return convert(stored or {}, cls)

    @property
    def as_json(self) -> dict[str, Any] | None:
        """The value of Turn.caller_tools."""
        return to_builtins(self) if self.functions else None
