"""Archives that unpack to too much, lie about their sizes, or lead outside."""

import gzip
import io
import random
import stat
import struct
import tarfile
import zipfile
from functools import partial
from typing import Final

from tests.ingest import documents
from tests.ingest.documents import zipped

MEGABYTE: Final = 1024 * 1024


def lying_sizes(archive: bytes, chance: random.Random) -> bytes:
    """The sizes in the directory are others than those of the content."""
    changed = bytearray(archive)
    at = changed.find(b"PK\x01\x02")
    while at >= 0:
        struct.pack_into("<II", changed, at + 20, chance.randrange(2**20), chance.randrange(2**20))
        at = changed.find(b"PK\x01\x02", at + 4)
    return bytes(changed)


def saying_little(archive: bytes) -> bytes:
    """The directory says that each entry unpacks to 10 bytes."""
    changed = bytearray(archive)
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = changed.find(signature)
        while at >= 0:
            struct.pack_into("<I", changed, at + offset, 10)
            at = changed.find(signature, at + 4)
    return bytes(changed)


def nested(depth: int, content: bytes = b"PK\x05\x06" + b"\x00" * 18) -> bytes:
    for _ in range(depth):
        content = zipped({"inner.zip": content}, zipfile.ZIP_STORED)
    return content


def overlapping() -> bytes:
    """Thousands of directory entries that share one compressed content."""
    whole = zipped({"a": b"\x00" * MEGABYTE})
    start = whole.index(b"PK\x01\x02")
    end = whole.index(b"PK\x05\x06")
    entries = b"".join(whole[start : end - 1] + bytes([65 + n % 26]) for n in range(3_000))
    record = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 3_000, 3_000, len(entries), start, 0)
    return whole[:start] + entries + record


def changed_in_directory(offset: int, value: int, layout: str = "<H") -> bytes:
    """One field of the directory entry (and of the local header, for flag and method) has another value."""
    changed = bytearray(zipped({"a.txt": "Two tides a day."}))
    struct.pack_into(layout, changed, changed.index(b"PK\x01\x02") + offset, value)
    if offset in (8, 10):
        struct.pack_into(layout, changed, offset - 2, value)
    return bytes(changed)


def ending_with(**fields: int) -> bytes:
    """The record at the end says something else of the directory."""
    changed = bytearray(zipped({"a.txt": "Two tides a day."}))
    at = changed.index(b"PK\x05\x06")
    for name, value in fields.items():
        place, layout = {"entries": (10, "<H"), "size": (12, "<I"), "offset": (16, "<I")}[name]
        struct.pack_into(layout, changed, at + place, value)
    return bytes(changed)


def linked() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    return target.getvalue()


def doubled() -> bytes:
    """Two entries of the same name."""
    return zipped({"aaaa.txt": "one", "aaab.txt": "two"}).replace(b"aaab", b"aaaa")


def tarred() -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("../../x"), io.BytesIO())
    return target.getvalue()


def _bomb(method: int, megabytes: int, _chance: random.Random) -> bytes:
    return zipped({"a.txt": b"\x00" * (megabytes * MEGABYTE)}, method)


def _named(name: str, _chance: random.Random) -> bytes:
    return zipped({name: "x"})


NAMES: Final = {
    "parent": "../../etc/cron.d/x", "deep-parent": "a/b/../../../x", "backslash": "..\\..\\x", "absolute": "/etc/x",
    "drive": "C:\\x", "share": "\\\\host\\share\\x", "long": "a/" * 20_000 + "x", "override": "\u202etxt.exe",
    "control": "a\x07\x1b[31m.txt", "dots": "....//....//x",
}  # fmt: skip
FILES: Final = {
    "zeros.zip": partial(_bomb, zipfile.ZIP_DEFLATED, 300),
    "zeros-bz2.zip": partial(_bomb, zipfile.ZIP_BZIP2, 190),
    "zeros-lzma.zip": partial(_bomb, zipfile.ZIP_LZMA, 190),
    "half-a-bomb.zip": partial(_bomb, zipfile.ZIP_DEFLATED, 9),
    "saying-little.zip": lambda chance: saying_little(_bomb(zipfile.ZIP_DEFLATED, 300, chance)),
    "saying-little.docx": lambda _: saying_little(
        documents.rezipped(documents.docx(), word__x_dot_xml=b" " * 200 * MEGABYTE)
    ),
    **{f"zeros.{kind}": partial(lambda kind, _: documents.rezipped(getattr(documents, kind)(), **{f"{kind}.xml": b" " * 300 * MEGABYTE}), kind)
       for kind in ("docx", "pptx", "xlsx", "epub")},
    **{f"lying.{kind}": partial(lambda kind, chance: lying_sizes(getattr(documents, kind)(), chance), kind)
       for kind in ("docx", "pptx", "xlsx", "epub")},
    **{f"nested-{depth}.zip": partial(lambda depth, _: nested(depth), depth) for depth in (1, 4, 300)},
    "nested.docx": lambda _: nested(3, documents.docx()),
    "gzip-inside.zip": lambda _: zipped({"a.gz": gzip.compress(b"\x00" * MEGABYTE)}),
    "tar-inside.zip": lambda _: zipped({"a.tar.gz": tarred()}),
    "tar.zip": lambda _: tarred(),
    "entries.zip": lambda _: zipped({str(n): "" for n in range(20_000)}),
    "folders.zip": lambda _: zipped({f"{n}/": "" for n in range(9_999)}),
    "overlapping.zip": lambda _: overlapping(),
    "encrypted.zip": lambda _: changed_in_directory(8, 1),
    "method-99.zip": lambda _: changed_in_directory(10, 99),
    "wrong-sum.zip": lambda _: changed_in_directory(16, 12345, "<I"),
    "huge-size.zip": lambda _: changed_in_directory(24, 2**32 - 1, "<I"),
    "outside-offset.zip": lambda _: changed_in_directory(42, 2**31, "<I"),
    "huge-name.zip": lambda _: changed_in_directory(28, 2**16 - 1),
    "many-more.zip": lambda _: ending_with(entries=2**16 - 1),
    "outside-directory.zip": lambda _: ending_with(offset=2**32 - 2, size=2**32 - 2),
    "empty.zip": lambda _: b"PK\x05\x06" + b"\x00" * 18,
    "link.zip": lambda _: linked(),
    "same-name.zip": lambda _: doubled(),
    **{f"name-{what}.zip": partial(_named, name) for what, name in NAMES.items()},
    "name-nul.zip": lambda _: zipped({"a_b.txt": "x"}).replace(b"a_b", b"a\x00b"),
    "chapter-outside.epub": lambda _: documents.epub(**{"../../x": "x"}),
}  # fmt: skip
