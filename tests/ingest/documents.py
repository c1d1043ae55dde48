"""Makes the files that tests upload: ordinary ones, and those that attack their reader. The libraries are imported
where they are used: other tests need none of them."""

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from typing import Any

TIDES = "Two tides a day."
XXE = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "lol">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    + "]><x>&a9;</x>"
)
HTML = f"<html><head><title>Tides</title><script>evil()</script></head><body><h1>Moon</h1><p>{TIDES}</p><script>evil()</script></body></html>"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 504
PROGRAM = (
    b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00"
    + b"\x00" * 64
    + b"This program cannot be run in DOS mode."
)


def zipped(entries: Mapping[str, bytes | str], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return target.getvalue()


def rezipped(document: bytes, **changed: bytes | str) -> bytes:
    """The document with some of its parts replaced or added. changed: by name, with __ for / and _dot_ for a dot."""
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        parts: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
    parts |= {name.replace("__", "/").replace("_dot_", "."): content for name, content in changed.items()}
    return zipped(parts)


def zip_part(document: bytes, name: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        return archive.read(name)


def docx(text: str = TIDES) -> bytes:
    from docx import Document

    document = Document()
    document.add_heading("Moon", 1)
    document.add_paragraph(text)
    table = document.add_table(2, 2)
    for row, values in zip(table.rows, [("day", "metres"), ("Monday", "4.2")], strict=True):
        for cell, value in zip(row.cells, values, strict=True):
            cell.text = value
    return saved(document.save)


def pptx() -> bytes:
    from pptx import Presentation

    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Moon"
    slide.placeholders[1].text = TIDES
    slide.notes_slide.notes_text_frame.text = "Speak slowly."
    return saved(presentation.save)


def xlsx(rows: int = 3) -> bytes:
    from openpyxl import Workbook

    workbook = Workbook()
    sheet = workbook.active
    sheet.title = "Levels"
    sheet.append(["day", "metres"])
    for number in range(rows):
        sheet.append([f"day {number}", number / 2])
    return saved(workbook.save)


def epub(chapter: str = HTML, **more: str) -> bytes:
    container = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    book = (
        '<package><manifest><item id="b" href="second.xhtml"/><item id="a" href="first.xhtml"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
    )
    second = "<html><body><p>The second chapter.</p></body></html>"
    parts = {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "OPS/book.opf": book}
    return zipped({**parts, "OPS/first.xhtml": chapter, "OPS/second.xhtml": second, **more})


def eml() -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = (
        "Alice <alice@example.org>",
        "bob@example.org",
        "Tides",
    )
    message.set_content(TIDES)
    message.add_alternative(f"<p>{TIDES}</p>", subtype="html")
    message.add_attachment(b"\x00", maintype="application", subtype="octet-stream", filename="levels.bin")
    return bytes(message)


def pdf(*pages: str, extra: str = "", objects: Mapping[int, bytes] | None = None) -> bytes:
    """A PDF with one line of text a page. extra: for the trailer. objects: further ones, from 900000 on."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    bodies = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>".encode(),
        3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    }
    for number, text in enumerate(pages):
        page, content = 4 + 2 * number, 5 + 2 * number
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
        bodies[page] = (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {content} 0 R/Resources<</Font<</F1 3 0 R>>>>>>"
        ).encode()
        bodies[content] = b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream)
    return _pdf_file({**bodies, **(objects or {})}, extra)


def encrypted_pdf() -> bytes:
    garbage = "".join(f"{(37 * n) % 256:02x}" for n in range(32))
    entry = f"<</Filter/Standard/V 1/R 2/O<{garbage}>/U<{garbage[::-1]}>/P -44>>".encode()
    return pdf(TIDES, extra=f"/Encrypt 900000 0 R/ID[<{garbage}><{garbage}>]", objects={900000: entry})


def picture(file_format: str = "JPEG", size: tuple[int, int] = (64, 48), **options: Any) -> bytes:
    from PIL import Image

    return saved(lambda target: Image.new("RGB", size, "navy").save(target, file_format, **options))


def picture_of_a_camera(file_format: str = "JPEG", size: tuple[int, int] = (64, 48)) -> bytes:
    """With a place, a comment and an orientation by which it is to be turned."""
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "SECRET-PLACE"
    exif.get_ifd(0x8825)[2] = (52.0, 31.0, 12.0)
    return picture(file_format, size, exif=exif, comment=b"SECRET-COMMENT", xmp=b"<x>SECRET-XMP</x>")


def png_that_says(width: int, height: int) -> bytes:
    """A few bytes that claim to be a picture of this size."""
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\x00\x00\x00"
    data = zlib.compress(b"\x00" * 1000)
    return (
        b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", data) + png_chunk(b"IEND", b"")
    )


def saved(save: Callable[[Any], Any]) -> bytes:
    target = io.BytesIO()
    save(target)
    return target.getvalue()


def png_chunk(name: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")


def _pdf_file(bodies: Mapping[int, bytes], extra: str) -> bytes:
    target, offsets = bytearray(b"%PDF-1.4\n"), {}
    for number, body in sorted(bodies.items()):
        offsets[number] = len(target)
        target += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(target)
    target += b"xref\n0 1\n0000000000 65535 f \n"
    for number, offset in offsets.items():
        target += b"%d 1\n%010d 00000 n \n" % (number, offset)
    size = max(offsets) + 1
    target += f"trailer<</Size {size}/Root 1 0 R{extra}>>\nstartxref\n{start}\n%%EOF".encode()
    return bytes(target)


OPEN_DOCUMENT = "application/vnd.oasis.opendocument."


def opendocument(body: str, kind: str = "text") -> bytes:
    """body: of content.xml, with the usual prefixes."""
    names = "".join(
        f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for prefix, name in {"office": "office", "text": "text", "table": "table", "draw": "drawing"}.items()
    )
    content = f"<office:document-content{names}><office:body>{body}</office:body></office:document-content>"
    return zipped({"mimetype": OPEN_DOCUMENT + kind, "content.xml": content})
