"""Documents as the model sees them, and their numbers within a branch."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.transcript.entries import Document, Passage
from llm_worker.request.numbered_documents import Numbering, render_found, render_provided

pytestmark = pytest.mark.pure


def found(*ids, contents=""):
    return [Document(0, name, name.upper(), contents) for name in ids]


def numbers(documents):
    return [(document.number, document.document_id) for document in documents]


def test_documents_are_rendered_with_a_fixed_order_of_keys():
    documents = [
        Document(4, "d4", "Rivers", "Wet ü.", "https://a.example", {"author": "Alice"}),
        Document(5, "d5", "Hills", "Dry."),
    ]
    assert render_found(documents) == (
        '{"documents": [{"document": 4, "title": "Rivers", "url": "https://a.example", '
        '"metadata": {"author": "Alice"}, "contents": "Wet ü."}, '
        '{"document": 5, "title": "Hills", "contents": "Dry."}]}'
    )


def test_documents_of_users_stand_below_a_lead_byte_for_byte_as_stored_project_blocks():
    assert render_provided([Document(1, "d1", "Rivers", "Wet.")]) == (
        "Here are some documents provided for context, they may not all be relevant:\n"
        '{"documents": [{"document": 1, "title": "Rivers", "contents": "Wet."}]}'
    )


def test_numbers_continue_after_the_highest_of_the_branch():
    numbering = Numbering(highest=7)
    assert numbers(numbering.number(found("a", "b"))) == [(8, "a"), (9, "b")]
    assert numbers(numbering.number(found("c"))) == [(10, "c")]


def test_a_document_found_again_keeps_its_number():
    numbering = Numbering(highest=2, known=[Document(2, "file", "File")])
    assert numbers(numbering.number(found("a", "file", "b", "a", contents="new"))) == [
        (3, "a"), (2, "file"), (4, "b"),
    ]  # fmt: skip
    assert numbering.documents[2].title == "File"
    assert list(numbering.documents) == [2, 3, 4]


def test_an_opened_page_without_a_title_keeps_the_one_that_a_search_has_found():
    url = "https://a.example/report.pdf"
    numbering = Numbering()
    [result] = numbering.number([Document(0, url, "The report", "An excerpt.", url)])
    [opened] = numbering.number([Document(0, url, url, "All of it.", url)])
    assert (opened.number, opened.title) == (result.number, "The report")
    [titled] = numbering.number([Document(0, url, "Report 2026", "All of it.", url)])
    assert titled.title == "Report 2026"


def test_two_parts_of_one_document_share_its_number_and_are_both_shown():
    numbering = Numbering()
    parts = numbering.number([*found("a", contents="first"), *found("a", contents="second")])
    assert [(part.number, part.contents) for part in parts] == [(1, "first"), (1, "second")]


def test_each_passage_of_a_document_has_a_number_of_its_own_and_keeps_it():
    def passages(*starts):
        return [Document(0, "a", "A", f"text {start}", passage=Passage(start, 9)) for start in starts]

    numbering = Numbering(known=[Document(1, "a", "A")])
    first = numbering.number(passages(0, 700))
    assert [part.number for part in first] == [2, 3]
    assert [part.number for part in numbering.number(passages(700, 1400))] == [3, 4]
    assert [part.number for part in Numbering(known=first).number(passages(0))] == [2]


def test_documents_without_an_id_are_identified_by_address():
    numbering = Numbering()
    parts = [Document(0, "", "A", url="https://a"), Document(0, "", "B"), Document(0, "", "C")]
    assert [part.number for part in numbering.number([*parts, parts[0]])] == [1, 2, 3]


rounds = st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), max_size=5)


@given(rounds=rounds, highest=st.integers(0, 50))
def test_numbers_are_unique(rounds, highest):
    numbering = Numbering(highest)
    seen = {}
    for ids in rounds:
        for number, name in numbers(numbering.number(found(*ids))):
            assert number > highest
            assert seen.setdefault(number, name) == name
    assert len(set(seen.values())) == len(seen)
    assert sorted(numbering.documents) == list(range(highest + 1, highest + 1 + len(seen)))


@given(st.lists(st.builds(Document, st.integers(1, 9), st.text(), st.text(), st.text()), max_size=3))
def test_rendered_documents_are_json(documents):
    listed = json.loads(render_found(documents))
    assert [each["contents"] for each in listed["documents"]] == [d.contents for d in documents]
