"""Gives the files of imported questions their contents, if the export contains them, in its JSON or beside it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from django.conf import settings
from msgspec import structs

from chat.protocol.errors import ApiError
from chat.sessions.portable import format as f
from chat.sessions.portable.importer import check_room
from features.transfer.foreign_exports.inline_pictures import IN_MARKDOWN, REFERENCE, Picture
from features.transfer.foreign_exports.tree import LEFT_OUT
from knowledge.files import blobs

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from knowledge.models import File

# The member in which a product's reader names the content of a file, beside the members of format.File.
SOURCE: Final = "source"
_UNNAMED: Final = "image"


@dataclass(frozen=True, eq=False)
class TextContent:
    """The text of a file whose content is not in the export."""

    text: str

    @property
    def size(self) -> int:
        """A lower bound of the size in bytes: the number of characters."""
        return len(self.text)

    def read(self) -> Iterator[bytes]:
        yield self.text.encode(errors="replace")


# An id that Contents knows, or a content in the JSON itself.
Source = str | Picture | TextContent


class Problem(NamedTuple):
    """A loss in the import of a message. number: that of the message."""

    number: int
    code: str
    message: str


class Taken(NamedTuple):
    """The sources taken from a session. sources: by the numbers of a message and of a file in it."""

    sources: Mapping[tuple[int, int], Source]
    problems: list[Problem]


class Contents(Protocol):
    """The contents that an export has beside its JSON, and the storage for contents."""

    def size(self, source: str) -> int | None:
        """Return the size in bytes; None if the export does not contain the source."""

    def read(self, source: str) -> Iterator[bytes]:
        """Yield the content in chunks. Raises ApiError if it is damaged."""

    def store(self, name: str, content: Iterable[bytes]) -> "File | ApiError":
        """Store the content. Returns its row, which is not stored yet, or the error if the content is refused.
        Raises ApiError if the storage fails."""


class Attached(NamedTuple):
    """A session with the entries of its files. stored: the new files by entry."""

    portable: f.Portable
    stored: "dict[str, File]"
    problems: list[Problem]


def take_sources(session: Mapping[str, Any], pictures: Sequence[Picture]) -> Taken:
    """Remove the sources, for which the format has no member, and references to pictures from the JSON of a session."""
    taken: dict[tuple[int, int], Source] = {}
    problems: list[Problem] = []
    count = 0
    for message in session["messages"]:
        number = message["id"]
        if message["role"] != "user":
            problems += _leave_out_pictures(message, bool(pictures))
            continue
        files = [*message.pop("files", ()), *_pictures_of_text(message)]
        room = min(f.MAX_FILES, f.MAX_ALL_FILES - count)
        if len(files) > room:
            problems.append(
                Problem(number, "too_many_files", "The message has more files than a message may have.")
            )
        if files := files[:room]:
            message["files"] = files
        count += len(files)
        for index, file in enumerate(files):
            source = _resolved(file, pictures)
            if source is not None:
                taken[number, index] = source
            elif SOURCE in file:
                problems.append(
                    Problem(number, "invalid_value", f"{file['name']}: the data URL cannot be read.")
                )
            file.pop(SOURCE, None)
    return Taken(taken, problems)


def _resolved(file: dict[str, Any], pictures: Sequence[Picture]) -> Source | None:
    """Return the source; None if there is none, or it cannot be read.
    A picture's file gets a name with its extension."""
    source: Source | None = file.get(SOURCE)
    if not isinstance(source, str):
        return source
    if found := REFERENCE.fullmatch(source):
        if int(found[1]) >= len(pictures):
            return None
        picture = pictures[int(found[1])]
        file["name"] = picture.name(file["name"])
        return picture
    return None if source.startswith("data:") else source


def _pictures_of_text(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pictures in the text of a question as files, and replace them in the text by their names."""
    files: list[dict[str, Any]] = []

    def name_of(alt: str, reference: str) -> str:
        name = " ".join(alt.split())[:200] or _UNNAMED
        files.append({"name": name, "kind": "image", SOURCE: reference})
        return name

    text = message.get("text", "")
    if REFERENCE.fullmatch(text):
        name_of("", text)
        del message["text"]
    elif text:
        message["text"] = IN_MARKDOWN.sub(
            lambda found: f"[{name_of(found['alt'], found['reference'])}]", text
        )
    return files


def _leave_out_pictures(message: dict[str, Any], has_pictures: bool) -> list[Problem]:
    """Replace pictures in an answer, its calls and their results by words, since only questions have files."""
    if not has_pictures:
        return []
    left_out = 0

    def in_words(alt: str) -> str:
        nonlocal left_out
        left_out += 1
        return f"[{alt or 'picture'}]"

    def without(value: Any) -> Any:
        if isinstance(value, str):
            value = IN_MARKDOWN.sub(lambda found: in_words(found["alt"]), value)
            return REFERENCE.sub(lambda _: in_words(""), value)
        if isinstance(value, dict):
            return {name: without(one) for name, one in value.items()}
        return [without(one) for one in value] if isinstance(value, list) else value

    message.update(without(message))
    return [Problem(message["id"], "invalid_value", LEFT_OUT)] if left_out else []


@contextmanager
def attached(owner: "User", portable: f.Portable, taken: Taken, contents: Contents) -> Iterator[Attached]:
    """Store the contents that exist and are accepted, and yield the session with their entries.

    They are discarded if the block raises. Raises ApiError if there is no room for them.
    """
    sizes, problems = _sizes(portable, taken, contents)
    if sizes:
        check_room(owner, sum(sizes.values()), len(sizes))
    stored: dict[str, File] = {}
    paths: list[str] = []
    with blobs.discarded_on_failure(paths):
        entries: dict[Source, str] = {}
        for (number, index), source in taken.sources.items():
            if source in sizes and source not in entries:
                content = contents.read(source) if isinstance(source, str) else source.read()
                file = contents.store(portable.messages[number].files[index].name, content)
                entries[source] = f"files/{len(entries) + 1}"
                if isinstance(file, ApiError):
                    problems.append(_refused(portable, number, index, file))
                else:
                    stored[entries[source]] = file
                    paths.append(str(file.content.name))
        yield Attached(_with_entries(portable, taken.sources, entries), stored, problems)


def _sizes(portable: f.Portable, taken: Taken, contents: Contents) -> tuple[dict[Source, int], list[Problem]]:
    """Return the sizes in bytes of the contents that exist and are not too large, and problems for those too large."""
    sizes: dict[Source, int] = {}
    problems: list[Problem] = []
    for (number, index), source in taken.sources.items():
        size = contents.size(source) if isinstance(source, str) else source.size
        if size is not None and size > settings.MAX_FILE_BYTES:
            problems.append(_refused(portable, number, index, ApiError("file_too_large")))
        elif size is not None:
            sizes[source] = size
    return sizes, problems


def _refused(portable: f.Portable, number: int, index: int, error: ApiError) -> Problem:
    return Problem(number, error.code, f"{portable.messages[number].files[index].name}: {error.message}")


def _with_entries(
    portable: f.Portable, sources: Mapping[tuple[int, int], Source], entries: Mapping[Source, str]
) -> f.Portable:
    """Return the session with the entries set on its files. A message has each entry only once."""
    messages = list(portable.messages)
    given: set[tuple[int, Source]] = set()
    for (number, index), source in sources.items():
        if source in entries and (number, source) not in given:
            given.add((number, source))
            files = list(messages[number].files)
            files[index] = structs.replace(files[index], entry=entries[source])
            messages[number] = structs.replace(messages[number], files=files)
    return structs.replace(portable, messages=messages)
