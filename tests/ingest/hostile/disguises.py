"""Files that are not what their names say, that are two things at once, or whose names attack."""

import random
from functools import partial
from typing import Final

from tests.ingest import documents
from tests.ingest.documents import OLE, PROGRAM, TIDES, zipped

NAMES: Final = (
    "../../../etc/passwd", "..\\..\\boot.ini", "/etc/passwd", "C:\\x.txt", "CON", "nul.txt", ".", "..", " ", ".txt", "a.", "a.txt. . .",
    "x" * 4_092 + ".txt", "ü" * 4_096, "a\u202etxt.exe.md", "\u2066\u200fa\u2069.txt", "a\x07\x1b[31mb.txt", "a\x00b.txt",
    "a\r\nX-Evil: 1.txt", 'a"; filename="b.txt', "a%00.txt", "a%2e%2e%2fb.txt", "<img src=x onerror=alert(1)>.txt",
    "{{7*7}}${7*7}.txt", "'; DROP TABLE file; --.txt", "e\u0301" * 200 + ".txt", "👩‍👩‍👧‍👦.txt", "\ufeffa.txt", "a\u2028b.txt", "-rf.txt",
)  # fmt: skip


def _plain(_chance: random.Random) -> bytes:
    return TIDES.encode()


def _one_byte(_chance: random.Random) -> bytes:
    return b"\x00"


FILES: Final = {
    **{f"program.{kind}": lambda _: PROGRAM for kind in ("pdf", "docx", "txt", "png", "exe")},
    "page.png": lambda _: documents.HTML.encode(),
    "page.txt": lambda _: documents.HTML.encode(),
    "pdf.png": lambda _: documents.pdf("x"),
    "pdf.txt": lambda _: documents.pdf("x"),
    "picture.csv": lambda _: documents.picture(),
    "picture.png": lambda _: documents.picture("JPEG"),
    "zip.pdf": lambda _: zipped({"a": "b"}),
    "zip.docx": lambda _: zipped({"a": "b"}),
    "workbook.docx": lambda _: documents.xlsx(),
    "document.epub": lambda _: documents.docx(),
    "old.docx": lambda _: OLE,
    "old-encrypted.xlsx": lambda _: OLE + "EncryptedPackage".encode("utf-16-le"),
    "elf.md": lambda _: b"\x7fELF" + b"\x00" * 500,
    "script.svg": lambda _: b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(1)</script></svg>",
    "no-ending": lambda chance: chance.randbytes(10_000),
    "pdf-and-zip.pdf": lambda _: documents.pdf("x") + zipped({"../../x": "x"}),
    "pdf-and-zip.zip": lambda _: documents.pdf("x") + zipped({"../../x": "x"}),
    "picture-and-zip.png": lambda _: documents.picture("PNG") + zipped({"../../x": "x"}),
    "picture-and-zip.zip": lambda _: documents.picture("PNG") + zipped({"../../x": "x"}),
    "picture-and-script.gif": lambda _: b"GIF89a/*" + b"\x00" * 20 + b"*/=1;alert(1)",
    "picture-and-page.jpg": lambda _: documents.picture(comment=b"<script>alert(1)</script>"),
    "text-and-pdf.pdf": lambda _: b"x" * 1_020 + documents.pdf("x"),
    **{f"empty.{kind}": lambda _: b"" for kind in ("txt", "pdf", "png")},
    **{f"one-byte.{kind}": _one_byte for kind in ("txt", "pdf", "docx", "csv", "eml", "zip", "jpg")},
    **{name: partial(_plain) for name in NAMES},
}  # fmt: skip
