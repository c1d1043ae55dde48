"""Tables with quotes, RTF and OpenDocument: what the child process reads of them."""

from pathlib import Path

import pytest

from ingest.reader import file_reader
from ingest.reader.reading_outcome import Outcome
from knowledge.files.file_types import RTF, detect_type
from tests.ingest.documents import OPEN_DOCUMENT, opendocument, zipped

# slow: the reader counts in every encoding, and loading them takes half a second.
pytestmark = [pytest.mark.pure, pytest.mark.slow]

LETTER = rb"""{\rtf1\ansi\ansicpg1251\deff0{\fonttbl{\f0\fcharset204 Arial;}}{\*\generator Riched20;}{\info{\title T}}
\f0\fs24 \'cf\'f0\'e8\'e2\'e5\'f2 {\b bold} \u8364?\par Second line\par
\trowd\cellx1000\cellx2000 day\cell metres\cell\row\trowd Monday\cell 4.2\cell\row}"""


def outcome(folder: Path, name: str, content: bytes) -> tuple[Outcome, str]:
    (folder / "content").write_bytes(content)
    file_reader.read(detect_type(name, content).content_type, folder)
    found = file_reader.json.decode((folder / "outcome.json").read_bytes(), type=Outcome)
    return found, (folder / "text").read_text(encoding="utf-8") if found.has_text else ""


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        pytest.param('"Last, First, Title";Town\n"Doe, Jane, Dr";Bonn\n', ["Last, First, Title | Town", "Doe, Jane, Dr | Bonn"], id="commas in quotes"),
        pytest.param('sep=|\r\na;b|c\r\n1;2|3\r\n', ["a;b | c", "1;2 | 3"], id="a line for Excel"),
        pytest.param("1,5;2,5\n3,5;4,5\n", ["1,5 | 2,5", "3,5 | 4,5"], id="commas in numbers"),
        pytest.param('a,b\n"x;\ny",2\n', ["a | b", "x; y | 2"], id="a break in a cell"),
        pytest.param("Tides of May\n\nday\tmetres\n1\t2\n3\t4\n", ["Tides of May", "day | metres", "1 | 2", "3 | 4"], id="a title above"),
        pytest.param('name, towns\nAnna, "Bonn, Ulm"\nJo, "Bonn"\n', ["name | towns", "Anna | Bonn, Ulm", "Jo | Bonn"], id="blanks before quotes"),
        pytest.param('id, "note, long"\n1, "x;\ny, z"\n2, "z"\n', ["id | note, long", "1 | x; y, z", "2 | z"], id="breaks in cells with blanks before quotes"),
        pytest.param('a, "b, c", d\n1, "2, 3", 4\n', ["a | b, c | d", "1 | 2, 3 | 4"], id="blanks before quotes in each row"),
        pytest.param('size, name\n5, "inch\n7, foot\n9, mile\n', ["size | name", '5 | "inch', "7 | foot", "9 | mile"], id="a quote that stays open"),
        pytest.param("name\nAnna\n", ["name", "Anna"], id="one column"),
    ],
)  # fmt: skip
def test_the_columns_of_a_table(tmp_path: Path, source: str, rows: list[str]) -> None:
    assert outcome(tmp_path, "a.csv", source.encode())[1].split("\n")[1:] == rows


@pytest.mark.parametrize("name", ["a.rtf", "a.txt", "a.doc", "letter"])
def test_rtf_is_read_without_its_control_words_whatever_its_name_is(tmp_path: Path, name: str) -> None:
    assert detect_type(name, LETTER).content_type == RTF
    text = outcome(tmp_path, name, LETTER)[1]
    assert text == "Привет bold €\nSecond line\nday|metres\nMonday|4.2"


def test_links_of_rtf_have_their_addresses(tmp_path: Path) -> None:
    link = r'{{\field{{\*\fldinst{{HYPERLINK "{}"}}}}{{\fldrslt {}}}}}'
    source = rf"{{\rtf1 a {link.format('http://x.org', 'one')} b {link.format('http://y.org', 'two')} c}}"
    text = outcome(tmp_path, "a.rtf", source.encode())[1]
    assert text == 'a one("http://x.org") b two("http://y.org") c'


def test_what_is_only_named_rtf_is_refused(tmp_path: Path) -> None:
    assert outcome(tmp_path, "a.rtf", b"Two tides")[0] == Outcome(error="document_corrupt")


def test_a_text_of_opendocument(tmp_path: Path) -> None:
    body = """<office:text><text:tracked-changes><text:p>never</text:p></text:tracked-changes>
      <text:h text:outline-level="2">Moon</text:h><text:p>Two<text:s text:c="2"/>tides<text:note><text:note-citation>1</text:note-citation>
      <text:note-body><text:p>A note</text:p></text:note-body></text:note><text:line-break/>a <text:span>day</text:span></text:p>
      <text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>
      <table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p>
      </table:table-cell></table:table-row></table:table></office:text>"""
    text = outcome(tmp_path, "a.odt", opendocument(body))[1]
    assert text == "## Moon\n\nTwo  tides[^1]\na day\n\n[^1]: A note\n\nitem\n\na | b"


@pytest.mark.parametrize(
    ("kind", "cells", "text"),
    [
        pytest.param("spreadsheet", "<office:annotation><text:p>by hand</text:p></office:annotation><text:p>4.2</text:p>", "4.2 (Comment: by hand)", id="a comment"),
        pytest.param("text", f"<text:p>a</text:p><table:table>{'<table:table-row><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row>' * 2}</table:table>", "a b b", id="a table"),
    ],
)  # fmt: skip
def test_what_a_cell_of_opendocument_contains_is_read_once(
    tmp_path: Path, kind: str, cells: str, text: str
) -> None:
    rows = f"<table:table-row><table:table-cell>{cells}</table:table-cell></table:table-row>"
    body = f"<office:{kind}><table:table><table:table-header-rows>{rows}</table:table-header-rows></table:table></office:{kind}>"
    name = "a.ods" if kind == "spreadsheet" else "a.odt"
    assert outcome(tmp_path, name, opendocument(body, kind))[1].split("\n")[-1] == text


def test_sheets_of_opendocument_are_previews_however_often_a_cell_is_repeated(tmp_path: Path) -> None:
    cell = "<table:table-cell {}><text:p>{}</text:p></table:table-cell>"
    row = "<table:table-row {}>{}</table:table-row>"
    body = f"""<office:spreadsheet><table:table table:name="Levels">{row.format("", cell.format("", "day") + cell.format("", "metres"))}
      {row.format("", cell.format('table:number-columns-repeated="2"', "4"))}
      {row.format('table:number-rows-repeated="1048574"', '<table:table-cell table:number-columns-repeated="16384"/>')}
      </table:table></office:spreadsheet>"""
    found, text = outcome(tmp_path, "a.ods", opendocument(body, "spreadsheet"))
    assert (found.kind, text) == ("tabular", "Sheet Levels: 2 columns, 1 rows\nday | metres\n4 | 4")


def test_slides_of_opendocument(tmp_path: Path) -> None:
    page = (
        "<draw:page><draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame></draw:page>"
    )
    body = f"<office:presentation>{page.format('First')}{page.format('Second')}</office:presentation>"
    assert (
        outcome(tmp_path, "a.odp", opendocument(body, "presentation"))[1]
        == "Slide 1\nFirst\n\nSlide 2\nSecond"
    )


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        pytest.param({"META-INF/manifest.xml": "<m><encryption-data/></m>", "content.xml": b"\x01\x02"}, "document_encrypted", id="a password"),
        pytest.param({"mimetype": OPEN_DOCUMENT + "text"}, "document_corrupt", id="no content"),
        pytest.param({"content.xml": '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'}, "document_unsafe", id="entities"),
    ],
)  # fmt: skip
def test_opendocument_that_is_refused(tmp_path: Path, parts: dict[str, bytes | str], code: str) -> None:
    assert outcome(tmp_path, "a.odt", zipped(parts))[0] == Outcome(error=code)
