"""Documents that do not fit are left out or cut at passages; the response stays JSON and says how many are missing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.transcript.entries import Document
from llm_worker.request.numbered_documents import render_found
from llm_worker.request.truncation import SHORTEST_TOKENS, truncate

pytestmark = pytest.mark.pure

SENTENCES = "The Moon pulls at the sea. Then the sea rises.\n\n" * 40


def found(*texts: str, note: str = "") -> str:
    return render_found([Document(n, f"d{n}", f"Page {n}", text) for n, text in enumerate(texts, 1)], note)


def characters(text: str, _stored: int) -> int:
    """Four characters a token, as in English."""
    return -(-len(text) // 4)


def test_documents_are_left_out_from_the_end_and_counted() -> None:
    text = found(*["x" * 400] * 5, note="Some files are being read.")
    shortened, tokens = truncate(text, 300, characters)
    read = json.loads(shortened)
    assert [one["document"] for one in read["documents"]] == [1, 2]
    assert (
        read["note"]
        == "Some files are being read. 3 more documents were found and left out: there is no room."
    )
    assert tokens == characters(shortened, 0) <= 300


def test_the_only_document_that_is_left_is_cut_at_the_end_of_a_passage() -> None:
    shortened, _ = truncate(found(SENTENCES, SENTENCES), 200, characters)
    [only] = json.loads(shortened)["documents"]
    assert only["contents"].endswith("Then the sea rises.")
    assert SENTENCES.startswith(only["contents"])
    assert json.loads(shortened)["note"] == (
        "The text of document 1 is cut. 1 more document was found and left out: there is no room."
    )


def test_other_text_keeps_head_and_tail() -> None:
    for text in (
        "a" * 2_000,
        '{"documents": "none" ' + "a" * 2_000,
        '{"documents": [1], "b": "' + "a" * 2_000 + '"}',
    ):
        shortened, _ = truncate(text, 100, characters)
        assert "tokens left out here" in shortened


@given(
    texts=st.lists(st.text(max_size=600), min_size=1, max_size=6),
    note=st.sampled_from(["", "Some files are being read."]),
    limit=st.integers(SHORTEST_TOKENS, 600),
)
def test_what_is_shortened_fits_and_is_json(texts: list[str], note: str, limit: int) -> None:
    text = found(*texts, note=note)
    shortened, tokens = truncate(text, limit, characters)
    assert tokens <= limit
    read = json.loads(shortened)
    missing = len(texts) - len(read["documents"])
    assert (f"{missing} more document" in read.get("note", "")) == bool(missing)


@pytest.mark.parametrize(
    "member", ['"note":{"a":1}', '"note":"\\ud83d"', '"a":"\\udc00"', f'"a":{"[" * 150}{"]" * 150}']
)
def test_what_another_program_writes_in_our_form_is_shortened_to_what_can_be_sent(member: str) -> None:
    text = f'{{"documents":[{{"document":1,"contents":"{SENTENCES.strip()}"}}],{member}}}'.replace(
        "\n", "\\n"
    )
    shortened, tokens = truncate(text, 200, characters)
    assert tokens <= 200
    assert "The Moon" in shortened.encode().decode()
