"""Ordinary files of every type that were cut, overwritten, swapped and continued."""

import random
from collections.abc import Callable
from functools import partial
from typing import Final

from tests.ingest import documents

WHOLE: Final[dict[str, Callable[[], bytes]]] = {
    "a.pdf": lambda: documents.pdf("one", "two", "three"), "a.docx": documents.docx, "a.pptx": documents.pptx,
    "a.xlsx": lambda: documents.xlsx(50), "a.epub": documents.epub, "a.eml": documents.eml,
    "a.zip": lambda: documents.zipped({"a.txt": "a" * 5000}), "a.png": lambda: documents.picture("PNG"),
    "a.jpg": documents.picture, "a.webp": lambda: documents.picture("WEBP"),
    "a.gif": lambda: documents.picture("GIF"), "a.tiff": lambda: documents.picture("TIFF"),
}  # fmt: skip


def truncated(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(20, len(content))]


def overwritten(content: bytes, chance: random.Random) -> bytes:
    """The head stays, so that it is still taken for what it was."""
    changed = bytearray(content)
    for _ in range(max(3, len(content) // 50)):
        changed[chance.randrange(16, len(changed))] = chance.randrange(256)
    return bytes(changed)


def swapped(content: bytes, chance: random.Random) -> bytes:
    """Two parts behind the head have changed places."""
    places = sorted(chance.randrange(16, len(content)) for _ in range(4))
    a, b, c, d = places
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def continued(content: bytes, chance: random.Random) -> bytes:
    """Followed by garbage of many times its size."""
    return content + chance.randbytes(200_000)


def _make(whole: str, damage: Callable[[bytes, random.Random], bytes], chance: random.Random) -> bytes:
    return damage(WHOLE[whole](), chance)


FILES: Final = {
    f"{damage.__name__}-{name}": partial(_make, name, damage)
    for name in WHOLE
    for damage in (truncated, overwritten, swapped, continued)
}
