"""Mails are read part by part, with their calendars; notebooks cell by cell; pages of one file as mails are."""

import json
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from ingest.reader import file_reader
from knowledge.files.file_types import detect_type

pytestmark = [pytest.mark.pure, pytest.mark.slow]

INVITATION = "\r\n".join([
    "BEGIN:VCALENDAR", "PRODID:x", "METHOD:REQUEST", "BEGIN:VTIMEZONE", "TZID:Europe/Berlin", "END:VTIMEZONE", "BEGIN:VEVENT",
    "UID:1@example.org", "SUMMARY:Tide table\\, second", "  reading", "DTSTART;TZID=Europe/Berlin:20260503T140000",
    "LOCATION:Kiel", "BEGIN:VALARM", "TRIGGER:-PT15M", "END:VALARM", "END:VEVENT", "END:VCALENDAR", "",
])  # fmt: skip
READ_INVITATION = "METHOD:REQUEST\nSUMMARY:Tide table, second reading\nDTSTART;TZID=Europe/Berlin:20260503T140000\nLOCATION:Kiel"


def extracted(folder: Path, name: str, content: bytes) -> str:
    (folder / "content").write_bytes(content)
    file_reader.read(detect_type(name, content).content_type, folder)
    return (folder / "text").read_text(encoding="utf-8")


def multipart(kind: str, *parts: str, boundary: str = "b") -> str:
    inner = "".join(f"--{boundary}\r\n{part}\r\n" for part in parts)
    return f"Content-Type: multipart/{kind}; boundary={boundary}\r\n\r\n{inner}--{boundary}--\r\n"


def part(text: str, kind: str = "text/plain", more: str = "") -> str:
    return f"Content-Type: {kind}; charset=utf-8\r\n{more}\r\n{text}"


PLAIN, PAGE = part("plain"), part("<p>rich</p>", "text/html")
PICTURE = "Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA"


@pytest.mark.parametrize(
    ("mail", "text"),
    [
        pytest.param(multipart("mixed", part("one"), PICTURE, part("<p>two</p>", "text/html"), part("three")), "one\n\ntwo\n\nthree", id="all inline texts in order"),
        pytest.param(multipart("alternative", PLAIN, PAGE), "rich", id="the richest alternative"),
        pytest.param(multipart("alternative", PLAIN, part("<img src=x>", "text/html")), "plain", id="the richest alternative that has text"),
        pytest.param(multipart("alternative", PLAIN, multipart("related", PAGE, PICTURE, boundary="c")), "rich", id="a page with its pictures"),
        pytest.param(multipart("related", part("<p>page</p>", "text/html"), part("<p>frame</p>", "text/html"), part("p {}", "text/css")), "page", id="a page without its frames"),
        pytest.param(multipart("mixed", part("text"), part("log", more="Content-Disposition: attachment; filename=a.log\r\n")), "Attached: a.log\n\ntext", id="an attached text is named"),
        pytest.param(multipart("mixed", part("text"), part("+a\r\n-b", "text/x-diff")), "text\n\n+a\n-b", id="a text of another kind"),
        pytest.param(multipart("alternative", PLAIN, part(INVITATION, "text/calendar")), f"plain\n\n{READ_INVITATION}", id="an invitation"),
        pytest.param(part(INVITATION, "text/calendar"), READ_INVITATION, id="nothing but an invitation"),
        pytest.param(multipart("mixed", *[part(f"{n}.") for n in range(1_200)]), "\n\n".join([*[f"{n}." for n in range(998)], "[Further parts of this message are left out]"]), id="too many parts"),
    ],
)  # fmt: skip
def test_a_mail_is_read_part_by_part(tmp_path: Path, mail: str, text: str) -> None:
    read = extracted(tmp_path, "a.eml", f"Subject: s\r\n{mail}".encode())
    assert read.replace("\r\n", "\n").removeprefix("Subject: s\n").strip() == text


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("From: Mara Zimtstern <mara@", "From: Mara Zimtstern <mara@"),
        ("Date: the third of May", "Date: the third of May"),
        ("To: a@example.org, <>", "To: a@example.org, <>"),
        ('From: "a" <[>', 'From: "a" <[>'),
        ("Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=", "Subject: Grüße"),
        ("Subject: Grüße", "Subject: Grüße"),
        ("Subject: folded\r\n over lines", "Subject: folded over lines"),
    ],
)
def test_a_header_that_cannot_be_parsed_is_its_line(tmp_path: Path, header: str, line: str) -> None:
    assert extracted(tmp_path, "a.eml", f"{header}\r\n\r\ntext".encode()) == f"{line}\n\ntext"


@pytest.mark.parametrize("name", ["a.mht", "a.mhtml"])
def test_a_page_of_one_file_is_read_as_a_mail(tmp_path: Path, name: str) -> None:
    message = EmailMessage()
    message["Subject"] = "Tides"
    message.set_content("<h1>Moon</h1><p>Two tides.</p>", subtype="html")
    message.add_related(b"\0", maintype="image", subtype="png", cid="<a>")
    assert extracted(tmp_path, name, bytes(message)) == "Subject: Tides\n\n# Moon\n\nTwo tides."


def notebook(*cells: dict[str, Any], **more: Any) -> bytes:
    return json.dumps(
        {"cells": cells, "nbformat": 4, "metadata": {"language_info": {"name": "julia"}}, **more}
    ).encode()


def code(*outputs: dict[str, Any], source: Any = "x = 1") -> bytes:
    return notebook({"cell_type": "code", "source": source, "outputs": outputs})


CODE = "```julia\nx = 1\n```"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param(notebook({"cell_type": "markdown", "source": ["# Tides\n", "Two a day."]}), "# Tides\nTwo a day.", id="Markdown"),
        pytest.param(code(source=["x = 1\n", "y = 2"]), "```julia\nx = 1\ny = 2\n```", id="code"),
        pytest.param(code({"output_type": "stream", "text": ["a\n", "b\n"]}), f"{CODE}\n\n```\na\nb\n```", id="what is printed"),
        pytest.param(code({"output_type": "execute_result", "data": {"text/plain": "42", "text/html": "<b>42</b>"}}), f"{CODE}\n\n```\n42\n```", id="a result"),
        pytest.param(code({"output_type": "display_data", "data": {"text/html": "<p>Table</p>"}}), f"{CODE}\n\nTable", id="a page"),
        pytest.param(code({"output_type": "display_data", "data": {"image/png": "AAAA"}}), f"{CODE}\n\n[Output without text: image/png]", id="a picture"),
        pytest.param(code({"output_type": "error", "traceback": ["\x1b[31mValueError\x1b[0m", "no tide"]}), f"{CODE}\n\n```\nValueError\nno tide\n```", id="an error"),
        pytest.param(code(source="print('```')"), "````julia\nprint('```')\n````", id="code with a fence"),
        pytest.param(json.dumps({"worksheets": [{"cells": [{"cell_type": "heading", "level": 2, "source": "Moon"}, {"cell_type": "code", "input": "x", "outputs": []}]}]}).encode(), "## Moon\n\n```python\nx\n```", id="version 3"),
        pytest.param(b'{"a": 1}', '{"a": 1}', id="no notebook"),
        pytest.param(b"{broken", "{broken", id="no JSON"),
        pytest.param(notebook({"cell_type": "code", "source": 7, "outputs": [{"data": 3}]}, {"cell_type": 1}, {"cell_type": "raw", "source": "raw"}), "raw", id="odd cells"),
    ],
)  # fmt: skip
def test_a_notebook_is_read_cell_by_cell(tmp_path: Path, content: bytes, text: str) -> None:
    assert extracted(tmp_path, "a.ipynb", content) == text
