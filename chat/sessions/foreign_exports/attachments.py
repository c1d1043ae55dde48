"""Gives the files of imported questions their contents, where an export has them beside its JSON."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from msgspec import structs

from chat.sessions.portable import format as f
from chat.sessions.portable.importer import check_room

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from knowledge.models import File

# What a reader of a product calls the content of a file, beside the members of format.File.
SOURCE: Final = "source"
# By the numbers of a message and of a file in it.
Sources = Mapping[tuple[int, int], str]


class Contents(Protocol):
    """What the export has beside its JSON."""

    def size(self, source: str) -> int | None:
        """In bytes; None: it is not there."""

    def store(self, source: str, name: str) -> "File | None":
        """A row that is not stored, whose content is. None: the content is refused. Raises ApiError if it cannot be stored."""

    def discard(self, files: "Iterable[File]") -> None:
        """Delete the contents whose rows were not stored."""


class Attached(NamedTuple):
    """stored: by entry."""

    portable: f.Portable
    stored: "dict[str, File]"


def take_sources(session: Mapping[str, Any]) -> Sources:
    """Remove the sources from the JSON of a session, whose format has no such member."""
    return {
        (message["id"], index): file.pop(SOURCE)
        for message in session["messages"]
        for index, file in enumerate(message.get("files", ()))
        if SOURCE in file
    }


@contextmanager
def attached(owner: "User", portable: f.Portable, sources: Sources, contents: Contents) -> Iterator[Attached]:
    """The session with the entries of the contents that are there and accepted; they are discarded if the block raises.

    Raises ApiError if there is no room for them.
    """
    sizes = {source: size for source in sources.values() if (size := contents.size(source)) is not None}
    if sizes:
        check_room(owner, sum(sizes.values()), len(sizes))
    stored: dict[str, File] = {}
    try:
        entries: dict[str, str] = {}
        for (number, index), source in sources.items():
            if source in sizes and source not in entries:
                file = contents.store(source, portable.messages[number].files[index].name)
                entries[source] = f"files/{len(entries) + 1}"
                if file:
                    stored[entries[source]] = file
        yield Attached(_with_entries(portable, sources, entries), stored)
    except BaseException:
        contents.discard(stored.values())
        raise


def _with_entries(portable: f.Portable, sources: Sources, entries: Mapping[str, str]) -> f.Portable:
    """A message has each entry once."""
    messages = list(portable.messages)
    given: set[tuple[int, str]] = set()
    for (number, index), source in sources.items():
        if source in entries and (number, source) not in given:
            given.add((number, source))
            files = list(messages[number].files)
            files[index] = structs.replace(files[index], entry=entries[source])
            messages[number] = structs.replace(messages[number], files=files)
    return structs.replace(portable, messages=messages)
