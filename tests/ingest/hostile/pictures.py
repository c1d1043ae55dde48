"""Pictures that claim sizes they have not, unpack to too much, or refer to themselves."""

import random
import struct
import zlib
from functools import partial
from typing import Any, Final

from tests.ingest.documents import picture, png_chunk, png_that_says, saved

MEGABYTE: Final = 1024 * 1024
HEAD: Final = b"\x89PNG\r\n\x1a\n"


def png(
    *chunks: tuple[bytes, bytes], width: int = 64, height: int = 48, colours: bytes = b"\x08\x02"
) -> bytes:
    header = struct.pack(">II", width, height) + colours + b"\x00\x00\x00"
    every = [(b"IHDR", header), *chunks, (b"IEND", b"")]
    return HEAD + b"".join(png_chunk(name, data) for name, data in every)


def patched(content: bytes, place: int, value: bytes) -> bytes:
    return content[:place] + value + content[place + len(value) :]


def tiff(*entries: tuple[int, int, int, int], following: int = 0, rest: bytes = b"") -> bytes:
    """entries: (tag, type, count, value).  following: where the next directory begins."""
    body = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return (
        b"II*\x00\x08\x00\x00\x00"
        + struct.pack("<H", len(entries))
        + body
        + struct.pack("<I", following)
        + rest
    )


def frames(count: int, file_format: str) -> bytes:
    from PIL import Image

    every = [Image.new("P", (32, 32), n % 256) for n in range(count)]
    return saved(lambda target: every[0].save(target, file_format, save_all=True, append_images=every[1:]))


def _random(head: bytes, chance: random.Random) -> bytes:
    return head + chance.randbytes(5_000)


def _jpeg_size(width: int, height: int) -> bytes:
    content = picture()
    at = content.index(b"\xff\xc0")
    return patched(content, at + 5, struct.pack(">HH", height, width))


PIXELS: Final = (b"IDAT", zlib.compress(b"\x00" * (64 * 3 + 1) * 48))
SIZE: Final = ((256, 4, 1, 64), (257, 4, 1, 48), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1))
HEADS: Final = {
    "a.jpg": b"\xff\xd8\xff\xe0", "b.jpg": b"\xff\xd8\xff\xdb", "a.png": HEAD, "a.gif": b"GIF89a", "b.gif": b"GIF87a",
    "a.webp": b"RIFF\x00\x20\x00\x00WEBPVP8L", "a.bmp": b"BM", "a.tiff": b"II*\x00", "b.tiff": b"MM\x00*",
    "a.avif": b"\x00\x00\x00\x20ftypavif",
}  # fmt: skip
FILES: Final = {
    "50000.png": lambda _: png_that_says(50_000, 50_000),
    "most.png": lambda _: png_that_says(2**31 - 1, 2),
    "lying.png": lambda _: png_that_says(5_000, 5_000),
    "no-size.png": lambda _: png_that_says(0, 0),
    "line.png": lambda _: png_that_says(1, 20_001),
    "real-bomb.png": lambda _: picture("PNG", (7_000, 7_000)),
    "palette.png": lambda _: png(PIXELS, colours=b"\x08\x03"),
    "sixteen.png": lambda _: png(PIXELS, colours=b"\x10\x06"),
    "wrong-colours.png": lambda _: png(PIXELS, colours=b"\xff\xff"),
    "text-bomb.png": lambda _: png((b"zTXt", b"a\x00\x00" + zlib.compress(b"\x00" * 300 * MEGABYTE)), PIXELS),
    "profile-bomb.png": lambda _: png((b"iCCP", b"a\x00\x00" + zlib.compress(b"\x00" * 300 * MEGABYTE)), PIXELS),
    "texts.png": lambda _: png(*[(b"tEXt", b"a%d\x00b" % n) for n in range(50_000)], PIXELS),
    "chunks.png": lambda _: png(*[(b"IDAT", b"")] * 200_000, PIXELS),
    "long-chunk.png": lambda _: HEAD + b"\x7f\xff\xff\xffIHDR" + b"\x00" * 100,
    "pixels-bomb.png": lambda _: png((b"IDAT", zlib.compress(b"\x00" * 300 * MEGABYTE))),
    "frames.png": lambda _: png((b"acTL", struct.pack(">II", 2**31 - 1, 0)), PIXELS),
    "lying.jpg": lambda _: _jpeg_size(7_000, 7_000),
    "65535.jpg": lambda _: _jpeg_size(65_535, 65_535),
    "no-size.jpg": lambda _: _jpeg_size(0, 0),
    "progressive.jpg": lambda _: picture(size=(2_000, 2_000), progressive=True)[:-500],
    "scans.jpg": lambda _: picture(size=(500, 500), progressive=True)[:-2] * 40,
    "large.jpg": lambda _: picture(size=(8_000, 6_000)),
    "exif.jpg": lambda chance: picture(exif=b"Exif\x00\x00MM\x00*\x00\x00\x00\x08" + chance.randbytes(50_000)),
    "exif-circle.jpg": lambda _: picture(exif=b"Exif\x00\x00" + tiff((34665, 4, 1, 8), following=8)),
    "orientation.jpg": lambda _: picture(exif=b"Exif\x00\x00" + tiff((274, 3, 1, 255))),
    "comments.jpg": lambda _: picture()[:2] + b"\xff\xfe\x00\x04xx" * 100_000 + picture()[2:],
    "cmyk.jpg": lambda _: saved(lambda target: _new("CMYK").save(target, "JPEG")),
    "frames.gif": lambda _: frames(3_000, "GIF"),
    "screen.gif": lambda _: patched(picture("GIF"), 6, b"\xff\xff\xff\xff"),
    "frame-outside.gif": lambda _: picture("GIF").replace(b"\x2c\x00\x00\x00\x00", b"\x2c\xff\xff\xff\xff"),
    "circle.tiff": lambda _: tiff(*SIZE, following=8),
    "no-strips.tiff": lambda _: tiff(*SIZE),
    "strips-outside.tiff": lambda _: tiff(*SIZE, (273, 4, 2**31, 2**31)),
    "huge.tiff": lambda _: tiff((256, 4, 1, 2**31), (257, 4, 1, 2**31), *SIZE[2:], (273, 4, 1, 100)),
    "tiles.tiff": lambda _: tiff(*SIZE, (322, 4, 1, 2**31), (323, 4, 1, 2**31), (324, 4, 1, 8)),
    "tags.tiff": lambda _: tiff(*[(n, 4, 2**32 - 1, 8) for n in range(300, 30_000)]),
    "frames.tiff": lambda _: frames(500, "TIFF"),
    "huge.bmp": lambda _: patched(picture("BMP"), 18, struct.pack("<ii", 40_000, 40_000)),
    "upside-down.bmp": lambda _: patched(picture("BMP"), 18, struct.pack("<ii", -64, -(2**31))),
    "run-lengths.bmp": lambda _: patched(patched(picture("BMP"), 28, b"\x08\x00\x01"), 18, struct.pack("<ii", 7_000, 7_000)),
    "canvas.webp": lambda _: b"RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00" + b"\xff" * 6,
    "frames.webp": lambda _: frames(300, "WEBP"),
    "boxes.avif": lambda _: b"\x00\x00\x00\x20ftypavif\x00\x00\x00\x00avifmif1miafMA1A" + b"\x00\x00\x00\x08meta" * 50_000,
    **{f"random-{name}": partial(_random, head) for name, head in HEADS.items()},
}  # fmt: skip


def _new(mode: str) -> Any:
    from PIL import Image

    return Image.new(mode, (64, 48))
