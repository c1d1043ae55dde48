"""A table that is shown in part says so wherever its file is shown: in the API, in its message, in its base."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile

from ingest.extraction import extract
from knowledge.models import File, KnowledgeBase
from tests import factories
from tests.ingest import documents
from tests.ingest.readings import Reading

CELL = "<table:table-cell><text:p>4</text:p></table:table-cell>"
SHEET = f'<office:spreadsheet><table:table table:name="Levels">{f"<table:table-row>{CELL}</table:table-row>" * 81}</table:table></office:spreadsheet>'
CSV = b"day,metres\n" + b"Monday,4\n" * 120


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        pytest.param("a.csv", CSV, (50, 120), id="CSV"),
        pytest.param("a.csv", CSV[:100], (0, 0), id="shown whole"),
        pytest.param("a.xlsx", documents.xlsx(200), (50, 200), id="Excel"),
        pytest.param("a.ods", documents.opendocument(SHEET, "spreadsheet"), (50, 80), id="OpenDocument"),
    ],
)
def test_the_reader_counts_the_rows_of_tables_that_it_shows_in_part(
    tmp_path: Path, name: str, content: bytes, rows: tuple[int, int]
) -> None:
    outcome = Reading(tmp_path, name, content).outcome
    assert (outcome.reading.shown_rows, outcome.reading.table_rows) == rows


def read(owner: Any, name: str, content: bytes, **more: Any) -> File:
    file = File(owner=owner, name=name, content_type="text/csv", size_bytes=len(content), **more)
    file.content.save(name, ContentFile(content))
    assert extract(str(file.pk))
    return file


def test_a_file_and_its_message_say_how_many_rows_models_read(db: None) -> None:
    alice, session = factories.session_of_alice()
    owner = alice.handler._force_user  # type: ignore[attr-defined]
    file = read(owner, "levels.csv", CSV)
    whole = read(owner, "short.csv", CSV[:100])
    assert factories.send_turn(alice, session, files=[str(file.pk), str(whole.pk)]).status_code == 202
    question, *_ = alice.get(f"/api/sessions/{session}/messages/").json()
    for shown in (alice.get(f"/api/files/{file.pk}/").json(), question["files"][0]):
        assert (shown["shown_rows"], shown["table_rows"]) == (50, 120)
    for shown in (alice.get(f"/api/files/{whole.pk}/").json(), question["files"][1]):
        assert "table_rows" not in shown


def test_a_document_of_a_base_says_how_many_rows_searches_find(db: None) -> None:
    alice, _ = factories.session_of_alice()
    owner = alice.handler._force_user  # type: ignore[attr-defined]
    base = alice.post("/api/knowledge-bases/", {"name": "Tides"}, format="json").json()["id"]
    read(owner, "levels.csv", CSV, knowledge_base=KnowledgeBase.objects.get(pk=base))
    [document] = alice.get(f"/api/knowledge-bases/{base}/documents/").json()["results"]
    assert (document["shown_rows"], document["table_rows"]) == (50, 120)
