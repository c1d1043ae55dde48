"""Types and descriptions of the members of what clients are sent, for msgspec Structs. Pure."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import Meta

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
