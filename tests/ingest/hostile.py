"""Files made to break their reader: ordinary ones that were cut, overwritten and nested, by a seeded generator."""

import random
import struct
import zipfile
import zlib
from collections.abc import Iterator

from tests.ingest import documents
from tests.ingest.documents import zipped

SEED = 20261123


def hostile_files(seed: int = SEED) -> Iterator[tuple[str, bytes]]:
    """(name, content), the same for the same seed; at least 50."""
    chance = random.Random(seed)
    whole = {
        "a.pdf": documents.pdf("one", "two", "three"), "a.docx": documents.docx(), "a.pptx": documents.pptx(),
        "a.xlsx": documents.xlsx(50), "a.epub": documents.epub(), "a.eml": documents.eml(), "a.zip": zipped({"a.txt": "a" * 5000}),
        "a.png": documents.picture("PNG"), "a.jpg": documents.picture(), "a.webp": documents.picture("WEBP"),
        "a.gif": documents.picture("GIF"), "a.tiff": documents.picture("TIFF"),
    }  # fmt: skip
    for name, content in whole.items():
        yield f"truncated-{name}", content[: chance.randrange(20, len(content))]
        yield f"overwritten-{name}", overwritten(content, chance)
    for name in ("a.docx", "a.xlsx", "a.zip", "a.epub"):
        yield f"lying-{name}", lying_sizes(whole[name], chance)
        yield f"nested-{name}", nested(whole[name], chance.randrange(2, 6))
    yield from fonts_and_streams(chance)
    yield from deep_ones()


def overwritten(content: bytes, chance: random.Random) -> bytes:
    """The head stays, so that it is still taken for what it was."""
    changed = bytearray(content)
    for _ in range(max(3, len(content) // 50)):
        changed[chance.randrange(16, len(changed))] = chance.randrange(256)
    return bytes(changed)


def lying_sizes(archive: bytes, chance: random.Random) -> bytes:
    """The sizes in the directory are others than those of the content."""
    changed = bytearray(archive)
    at = changed.find(b"PK\x01\x02")
    while at >= 0:
        struct.pack_into("<II", changed, at + 20, chance.randrange(2**20), chance.randrange(2**20))
        at = changed.find(b"PK\x01\x02", at + 4)
    return bytes(changed)


def nested(content: bytes, depth: int) -> bytes:
    for _ in range(depth):
        content = zipped({"inner.zip": content}, zipfile.ZIP_STORED)
    return content


def fonts_and_streams(chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """PDFs with fonts, filters and trees that are garbage, endless or refer to themselves."""
    garbage = chance.randbytes(20_000)
    bomb = zlib.compress(zlib.compress(b"\x00" * 100_000_000))
    font = b"<</Type/Font/Subtype/TrueType/BaseFont/X/FontDescriptor 900001 0 R>>"
    described = b"<</Type/FontDescriptor/FontName/X/FontFile2 900002 0 R>>"
    stream = b"<</Length %d>>stream\n%s\nendstream"
    yield (
        "font-garbage.pdf",
        documents.pdf("x", objects={3: font, 900001: described, 900002: stream % (len(garbage), garbage)}),
    )
    flate = b"<</Filter[/FlateDecode/FlateDecode]/Length %d>>stream\n%s\nendstream"
    yield "stream-bomb.pdf", documents.pdf("x", objects={5: flate % (len(bomb), bomb)})
    yield "own-parent.pdf", documents.pdf("x", objects={2: b"<</Type/Pages/Count 1/Kids[2 0 R]>>"})
    yield "many-pages.pdf", documents.pdf("x", objects={2: b"<</Type/Pages/Count 2000000000/Kids[4 0 R]>>"})
    yield "operators.pdf", documents.pdf("x) Tj ET " + "q " * 200_000 + "BT (x")
    yield "no-objects.pdf", b"%PDF-1.7\nstartxref\n0\n%%EOF"
    yield "random.pdf", b"%PDF-1.7\n" + chance.randbytes(100_000)
    for number in range(6):
        yield (
            f"random-{number}.{chance.choice(['jpg', 'png', 'gif'])}",
            chance.choice([b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n", b"GIF89a"]) + chance.randbytes(5_000),
        )


def deep_ones() -> Iterator[tuple[str, bytes]]:
    yield "deep.html", b"<div>" * 200_000 + b"x"
    yield "unclosed.html", b"<a href='" + b"<b " * 500_000
    yield "tables.html", b"<table>" * 5_000 + b"<td>x"
    yield "deep.xml", b"<a>" * 500_000
    yield "attributes.svg", b"<svg " + b"".join(b'a%d="x" ' % n for n in range(50_000)) + b"/>"
    yield (
        "deep.eml",
        b"".join(
            b'Content-Type: multipart/mixed; boundary="b%d"\r\n\r\n--b%d\r\n' % (n, n) for n in range(3_000)
        ),
    )
    yield "headers.eml", b"".join(b"X-%d: =?utf-8?q?=41?=\r\n" % n for n in range(50_000)) + b"\r\nx"
    yield "long-header.eml", b"Subject: " + b"=?utf-8?q?=41?= " * 100_000 + b"\r\n\r\nx"
    yield "one-cell.csv", b'"' + b"x" * 3_000_000
    yield "columns.csv", b"," * 3_000_000
    yield "one-word.txt", b"x" * 5_000_000
    yield (
        "cells.xlsx",
        documents.rezipped(
            documents.xlsx(),
            xl__worksheets__sheet1_dot_xml=(
                '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension ref="A1:XFD1048576"/>'
                '<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>'
            ),
        ),
    )
    yield (
        "deep.docx",
        documents.rezipped(
            documents.docx(),
            word__document_dot_xml=(
                '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
                + "<w:tbl><w:tr><w:tc>" * 50_000
            ),
        ),
    )
