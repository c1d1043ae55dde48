"""Whatever the address of a cited document is, a link that was streamed is found again and stays one Markdown link."""

import json
import re
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chat.loaders.rounds import _documents, cited_in, document_record
from chat.protocol.wire import CitationInfo, MessageDelta
from chat.transcript.citations import Citations, citation_link, citation_record, linked_documents
from chat.transcript.entries import Document
from chat.transcript.packets import fold
from chat.transcript.rebuild import Ended, ShownCall, ShownRound, rebuild

pytestmark = pytest.mark.pure

# A link destination of CommonMark without angle brackets, and nothing that HTML attributes, code spans or tables end on.
LINK = re.compile(r"""\[\[1\]\]\(([^\s\x00-\x20\x7f()<>"`|\\{}\[\]]+)\)""")
HOSTILE = [
    "\t", "\n", "\r\n", "\x0b", "\x1f", "\x7f", "\x85", "\xa0", "\u2028", " ", "(", ")", "((", "[", "]", "[2]", "](",
    "\\", "\\)", '"', "'", "`", "|", "<", ">", "<script>", "%", "%2", "%28", "%zz", "&lt;", "&#x29;", "&a=b", "{", "}",
    "^", "*_~$", "é", "漢", "😀", "\u202e", "javascript:", "//", "#", "?q=", "a" * 3000,
]  # fmt: skip
ADDRESSES = st.builds(
    str.__add__,
    st.sampled_from(["https://a.example/", "http://", "https://[::1]/", "https://[2]/", "/files/", "/"]),
    st.lists(
        st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), max_size=5)),
        max_size=8,
    ).map("".join),
)


def stored(url: str) -> Document:
    """As a tool call's row keeps it."""
    return _documents(json.loads(json.dumps([document_record(Document(1, "one", "One", "Text.", url=url))])))[
        0
    ]


def streamed(document: Document) -> str:
    citations = Citations({1: document, 2: Document(2, "two", "Two")})
    parts = [*citations.feed("So [1"), *citations.feed("], it is."), *citations.flush()]
    return "".join(part for part in parts if isinstance(part, str))


@given(ADDRESSES)
@example("https://a.example/\t(x)\n<b>")
def test_a_streamed_link_is_found_again_by_a_takeover_and_a_rebuild(url):
    document = stored(url)
    text = streamed(Document(1, "one", "One", "Text.", url=url))
    rounds = [ShownRound((ShownCall("row", "call", "search", {}, "Found.", documents=(document,)),))]
    assert cited_in(text, rounds) == [document]
    placed = rebuild(Ended("model", 0, "", text, "finished", citations=(document,)))
    assert fold(placed).text == text
    assert fold(placed).citations == [citation_record(document)]
    text_packets = [obj for _, obj in placed if isinstance(obj, CitationInfo | MessageDelta)]
    assert [type(obj) for obj in text_packets] == [MessageDelta, CitationInfo, MessageDelta]
    assert text_packets[2].text.startswith(citation_link(document))


def test_a_rebuild_announces_a_citation_whose_link_an_earlier_release_wrote_otherwise():
    document = Document(1, "one", "One", url="https://a.example/[x]")
    text = "Said [[1]](https://a.example/[x])."
    placed = rebuild(Ended("model", 0, "", text, "finished", citations=(document,)))
    assert fold(placed).citations == [citation_record(document)]
    assert fold(placed).text == text


@given(ADDRESSES)
def test_a_link_is_one_markdown_link_to_the_same_address(url):
    link = citation_link(Document(1, "one", "One", url=url))
    if url.startswith("//"):
        assert link == "[1]"
        return
    found = LINK.fullmatch(link.replace("https://[::1]", "https://host"))
    assert found, link
    assert unquote_to_bytes(found[1]) == unquote_to_bytes(url.replace("https://[::1]", "https://host"))
    assert not re.search(r"&#?\w{1,32};", link)


@given(ADDRESSES)
def test_an_address_cites_no_other_document(url):
    text = streamed(Document(1, "one", "One", url=url))
    assert linked_documents(text, [Document(2, "two", "Two")]) == []


@given(ADDRESSES)
def test_a_link_that_a_model_repeats_is_written_once(url):
    document = Document(1, "one", "One", url=url)
    link = citation_link(document)
    if len(link) < 2000:
        citations = Citations({1: document})
        parts = [*citations.feed(f"So {link}, it is."), *citations.flush()]
        assert [part for part in parts if isinstance(part, str)] == ["So ", f"{link}, it is."]


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://one.example/a_(b)?c=1&d=2#e", "[[1]](https://one.example/a_%28b%29?c=1&d=2#e)"),
        ("https://[2001:db8::1]:80/[x]", "[[1]](https://[2001:db8::1]:80/%5Bx%5D)"),
        ("https://a.example/&lt;b", "[[1]](https://a.example/&lt%3Bb)"),
        ("https://a.example/\xa0é", "[[1]](https://a.example/%C2%A0é)"),
        ("/files/2", "[[1]](/files/2)"),
        ("//other.example/", "[1]"),
        ("javascript:alert(1)", "[1]"),
        ("", "[1]"),
    ],
)
def test_links(url, link):
    assert citation_link(Document(1, "one", "One", url=url)) == link


def test_documents_found_inside_an_agent_tool_are_cited_too():
    document = Document(1, "one", "One", url="https://a.example/")
    inner = ShownRound((ShownCall("row", "call", "search", {}, "Found.", documents=(document,)),))
    outer = ShownRound((ShownCall("agent", "call_2", "research", {}, "Report.", rounds=(inner,)),))
    assert cited_in("So [[1]](https://a.example/).", [outer]) == [document]
