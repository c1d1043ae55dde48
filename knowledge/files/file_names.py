"""Display names of uploaded files. No path of the storage contains them. Pure."""

import unicodedata
from pathlib import PurePosixPath
from typing import Final

MAX_CHARACTERS: Final = 255
UNNAMED: Final = "file"
# In characters; a longer ending is not an extension.
_MAX_EXTENSION: Final = 20
# Scripts such as Persian need these two to be spelled right.
_JOINERS: Final = "\u200c\u200d"


def clean_name(name: str) -> str:
    """Return the last part of a path, without unprintable characters and those that change the direction of text.

    A longer name is cut to MAX_CHARACTERS, and keeps its extension.
    """
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    printable = "".join(_shown(character) for character in unicodedata.normalize("NFC", last))
    cleaned = " ".join(printable.split()).strip(". ") or UNNAMED
    return cleaned if len(cleaned) <= MAX_CHARACTERS else _cut(cleaned)


def extension(name: str) -> str:
    """Return the extension in lower case, without its dot; empty if there is none."""
    return PurePosixPath(name).suffix.lower().removeprefix(".")


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if character in _JOINERS or category[0] not in "CZ":
        return character
    return " " if category[0] == "Z" or character in "\t\n\r" else ""


def _cut(name: str) -> str:
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > _MAX_EXTENSION:
        return name[:MAX_CHARACTERS]
    return stem[: MAX_CHARACTERS - len(ending) - 1].rstrip() + dot + ending
