"""The files of the ingestion benchmarks: ten kinds of about 1 MB, mostly text, created once per process."""

import csv
import io
import random
from collections.abc import Callable
from functools import cache
from typing import Final

from tests.ingest import documents

MEGABYTE: Final = 1_000_000
WORDS: Final = "tide water moon spring harbour level metre boat north current sand".split()  # noqa: SIM905


def text(characters: int) -> str:
    """Return lines of words and numbers, which compress to about a third."""
    chance = random.Random(characters)
    lines: list[str] = []
    size = 0
    while size < characters:
        line = " ".join(f"{chance.choice(WORDS)} {chance.randrange(10_000)}" for _ in range(8))
        lines.append(line)
        size += len(line) + 1
    return "\n".join(lines)[:characters]


def _markdown() -> bytes:
    return f"# Tides\n\n{text(MEGABYTE)}".encode()


def _pdf() -> bytes:
    """Return a PDF of 350 pages."""
    page = text(2_600).replace("\n", ") Tj 0 -14 Td (")
    return documents.pdf(*[page] * 350)


def _csv() -> bytes:
    target = io.StringIO()
    csv.writer(target).writerows(line.split() for line in text(MEGABYTE).split("\n"))
    return target.getvalue().encode()[:MEGABYTE]


def _eml() -> bytes:
    return (
        b"From: alice@example.org\r\nSubject: Tides\r\nContent-Type: text/plain\r\n\r\n"
        + text(MEGABYTE).encode()
    )


def _html() -> bytes:
    body = "".join(f"<p>{line}</p>\n" for line in text(850_000).split("\n"))
    return f"<html><head><title>Tides</title></head><body>{body}</body></html>".encode()


def _docx() -> bytes:
    return documents.docx(text(3_000_000))


def _noise(file_format: str, side: int) -> bytes:
    from PIL import Image

    pixels = random.Random(side).randbytes(side * side * 3)
    picture = Image.frombytes("RGB", (side, side), pixels)
    return documents.saved(lambda target: picture.save(target, file_format))


KINDS: Final[dict[str, Callable[[], bytes]]] = {
    "tides.txt": lambda: text(MEGABYTE).encode(),
    "tides.md": _markdown,
    "tides.csv": _csv,
    "tides.html": _html,
    "tides.eml": _eml,
    "tides.pdf": _pdf,
    "tides.docx": _docx,
    "tides.xlsx": lambda: documents.xlsx(70_000),
    "tides.png": lambda: _noise("PNG", 577),
    "tides.jpg": lambda: _noise("JPEG", 1_200),
}


@cache
def mixed_files() -> tuple[tuple[str, bytes], ...]:
    """Return (name, content) of one file of each kind."""
    return tuple((name, make()) for name, make in KINDS.items())
