"""PDFs with fonts, filters, trees and tables that are garbage, endless or refer to themselves."""

import random
import zlib
from functools import partial
from typing import Final

from tests.ingest import documents
from tests.ingest.documents import pdf

MEGABYTE: Final = 1024 * 1024


def stream(content: bytes, entries: bytes = b"", length: int | None = None) -> bytes:
    size = len(content) if length is None else length
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, size, content)


def with_page_content(content: bytes, filters: bytes = b"", length: int | None = None) -> bytes:
    return pdf("x", objects={5: stream(content, filters, length)})


def with_objects(**objects: bytes) -> bytes:
    """o3 is the font, o4 the page, o2 the tree of pages, o1 the catalog."""
    return pdf("x", objects={int(name[1:]): body for name, body in objects.items()})


def page(more: bytes) -> bytes:
    return b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R%s>>" % more


def compressed(times: int, megabytes: int) -> bytes:
    content = b"\x00" * (megabytes * MEGABYTE)
    for _ in range(times):
        content = zlib.compress(content, 9)
    return content


def _bomb(times: int, megabytes: int, _chance: random.Random) -> bytes:
    return with_page_content(compressed(times, megabytes), b"/Filter[%s]" % (b"/FlateDecode" * times))


def _font(subtype: bytes, key: bytes, chance: random.Random) -> bytes:
    font = b"<</Type/Font/Subtype/%s/BaseFont/X/FontDescriptor 900001 0 R>>" % subtype
    described = b"<</Type/FontDescriptor/FontName/X/%s 900002 0 R>>" % key
    return with_objects(o3=font, o900001=described, o900002=stream(chance.randbytes(50_000)))


# A font that calls each letter Hebrew.
HEBREW: Final = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[120/afii57664]>>>>"


def _tree(depth: int) -> bytes:
    """Pages in so many levels."""
    objects = {
        f"o{900_000 + n}": b"<</Type/Pages/Count 1/Kids[%d 0 R]>>" % (900_001 + n) for n in range(depth)
    }
    objects[f"o{900_000 + depth}"] = page(b"")
    return with_objects(o2=b"<</Type/Pages/Count 1/Kids[900000 0 R]>>", **objects)


def _unicode_map() -> bytes:
    lines = b"".join(b"<%04x> <%s>\n" % (n % 65_536, b"0041" * 200) for n in range(20_000))
    table = (
        b"begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange 20000 beginbfchar\n"
        + lines
        + b"endbfchar endcmap"
    )
    font = b"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/ToUnicode 900001 0 R/DescendantFonts[900002 0 R]>>"
    return with_objects(
        o3=font,
        o900001=stream(table),
        o900002=b"<</Type/Font/Subtype/CIDFontType2/BaseFont/X/W[0 2000000000 500]>>",
    )


def _annotations(number: int, entries: bytes) -> bytes:
    """A page with so many annotations, which are the fields of the document as well."""
    references = b" ".join(b"%d 0 R" % place for place in range(900_001, 900_001 + number))
    annotations = {f"o{900_001 + n}": b"<</Type/Annot/F 4/Rect[0 0 9 9]%s>>" % entries for n in range(number)}
    return with_objects(
        o1=b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[%s]>>>>" % references,
        o4=page(b"/Annots[%s]" % references),
        o900000=stream(b"BT (x) Tj ET", b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]"),
        **annotations,
    )


FILES: Final = {
    "encrypted.pdf": lambda _: documents.encrypted_pdf(),
    "encrypted-unknown.pdf": lambda _: pdf("x", extra="/Encrypt 900000 0 R/ID[<00><00>]", objects={900000: b"<</Filter/Other/V 9/R 9>>"}),
    "encrypted-by-itself.pdf": lambda _: pdf("x", extra="/Encrypt 1 0 R"),
    "font-truetype.pdf": partial(_font, b"TrueType", b"FontFile2"),
    "font-type1.pdf": partial(_font, b"Type1", b"FontFile"),
    "font-cff.pdf": partial(_font, b"Type1", b"FontFile3"),
    "font-type3.pdf": lambda _: with_objects(o3=b"<</Type/Font/Subtype/Type3/FontBBox[0 0 1 1]/FontMatrix[1 0 0 1 0 0]/CharProcs<</x 900001 0 R>>/Encoding<</Differences[0/x]>>/FirstChar 0/LastChar 2000000000/Widths[1]/Resources<</Font<</F1 3 0 R>>>>>>", o900001=stream(b"BT /F1 12 Tf (x) Tj ET")),
    "font-of-itself.pdf": lambda _: with_objects(o3=b"<</Type/Font/Subtype/Type0/DescendantFonts[3 0 R]>>"),
    "unicode-map.pdf": lambda _: _unicode_map(),
    "bomb-1.pdf": partial(_bomb, 1, 300),
    "bomb-2.pdf": partial(_bomb, 2, 300),
    "bomb-3.pdf": partial(_bomb, 3, 300),
    "filters.pdf": lambda _: with_page_content(b"x" * 1_000, b"/Filter[%s]" % (b"/ASCIIHexDecode" * 5_000)),
    "hex-bomb.pdf": lambda _: with_page_content(b"28" * 5_000_000, b"/Filter/ASCIIHexDecode"),
    "run-lengths.pdf": lambda _: with_page_content(b"\x81q" * 2_000_000, b"/Filter/RunLengthDecode"),
    "lzw.pdf": lambda chance: with_page_content(chance.randbytes(500_000), b"/Filter/LZWDecode"),
    "predictor.pdf": lambda _: with_page_content(zlib.compress(b"\x00" * MEGABYTE), b"/Filter/FlateDecode/DecodeParms<</Predictor 15/Columns 2147483647/Colors 2147483647>>"),
    "picture-codec.pdf": lambda chance: with_page_content(chance.randbytes(50_000), b"/Filter/JBIG2Decode"),
    "lying-length.pdf": lambda _: with_page_content(b"BT (x) Tj ET", length=2_000_000_000),
    "negative-length.pdf": lambda _: with_page_content(b"BT (x) Tj ET", length=-5),
    "operators.pdf": lambda _: with_page_content(b"q " * 1_000_000),
    "texts.pdf": lambda _: with_page_content(b"BT /F1 12 Tf 72 720 Td " + b"(tide) Tj " * 300_000 + b"ET"),
    "arrays.pdf": lambda _: with_page_content(b"[" * 500_000),
    "long-text.pdf": lambda _: with_page_content(b"BT /F1 1 Tf (" + b"x" * 3_000_000 + b") Tj ET"),
    "deep-object.pdf": lambda _: with_objects(o900001=b"[" * 300_000 + b"]" * 300_000, o4=page(b"/X 900001 0 R")),
    "deep-dictionary.pdf": lambda _: with_objects(o4=page(b"/X<<" * 100_000)),
    "own-parent.pdf": lambda _: with_objects(o2=b"<</Type/Pages/Count 1/Kids[2 0 R]>>"),
    "circle.pdf": lambda _: with_objects(o2=b"<</Type/Pages/Count 2/Kids[900001 0 R]>>", o900001=b"<</Type/Pages/Count 2/Kids[2 0 R]>>"),
    "deep-tree.pdf": lambda _: _tree(5_000),
    "said-pages.pdf": lambda _: with_objects(o2=b"<</Type/Pages/Count 2000000000/Kids[4 0 R]>>"),
    "negative-pages.pdf": lambda _: with_objects(o2=b"<</Type/Pages/Count -1/Kids[4 0 R]>>"),
    "same-page.pdf": lambda _: with_objects(o2=b"<</Type/Pages/Count 100000/Kids[%s]>>" % (b"4 0 R " * 100_000)),
    "pages.pdf": lambda _: pdf(*["x"] * 6_000),
    "most-pages.pdf": lambda _: pdf(*["tide"] * 5_000),
    "form-of-itself.pdf": lambda _: with_objects(o4=page(b"/Resources<</XObject<</X 900001 0 R>>>>"), o5=stream(b"/X Do"),
                                                 o900001=stream(b"/X Do /X Do", b"/Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<</XObject<</X 900001 0 R>>>>")),
    "huge-image.pdf": lambda _: with_objects(o4=page(b"/Resources<</XObject<</X 900001 0 R>>>>"), o5=stream(b"/X Do"),
                                             o900001=stream(b"\x00", b"/Type/XObject/Subtype/Image/Width 100000/Height 100000/BitsPerComponent 8/ColorSpace/DeviceRGB")),
    "huge-box.pdf": lambda _: with_objects(o4=b"<</Type/Page/Parent 2 0 R/MediaBox[-1e38 -1e38 1e38 1e38]/Contents 5 0 R>>"),
    "script.pdf": lambda _: with_objects(o1=b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(while(true);)>>>>"),
    "launch.pdf": lambda _: with_objects(o1=b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/Launch/F(/bin/sh)>>>>"),
    "form.pdf": lambda _: with_objects(o1=b"<</Type/Catalog/Pages 2 0 R/AcroForm<</XFA 900001 0 R>>>>", o900001=stream(documents.LAUGHS.encode())),
    "fields.pdf": lambda _: _annotations(100_000, b"/Subtype/Widget/FT/Tx/T(a)/V(b)"),
    "choices.pdf": lambda _: _annotations(500, b"/Subtype/Widget/FT/Ch/T(a)/Opt[%s]" % (b"(b)" * 5_000)),
    "notes.pdf": lambda _: _annotations(100_000, b"/Subtype/FreeText/Contents(a)/AP<</N 900000 0 R>>"),
    "own-field.pdf": lambda _: _annotations(1, b"/Subtype/Widget/FT/Tx/T(a)/Parent 900001 0 R/Kids[900001 0 R]"),
    "from-right.pdf": lambda _: with_objects(o3=HEBREW, o5=stream(b"BT /F1 1 Tf (" + b"x1 [" * 600_000 + b") Tj ET")),
    "previous-table.pdf": lambda _: pdf("x", extra="/Prev 9"),
    "trailer-size.pdf": lambda _: pdf("x").replace(b"/Size 6", b"/Size 2147483647"),
    "updates.pdf": lambda _: pdf("x") + b"".join(b"\n%d 0 obj\n<<>>\nendobj\ntrailer<</Size %d/Prev 9>>\nstartxref\n9\n%%%%EOF" % (n, n) for n in range(10, 5_000)),
    "objects.pdf": lambda _: pdf("x", objects=dict.fromkeys(range(900_000, 1_000_000), b"null")),
    "no-objects.pdf": lambda _: b"%PDF-1.7\nstartxref\n0\n%%EOF",
    "no-table.pdf": lambda _: pdf("one", "two").partition(b"xref\n")[0],
    "random.pdf": lambda chance: b"%PDF-1.7\n" + chance.randbytes(100_000),
    "late-head.pdf": lambda _: b"x" * 1_000 + pdf("x"),
}  # fmt: skip
