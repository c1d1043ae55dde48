"""Numbers in brackets become links to the turn's documents; all other text is passed on unchanged."""

import json
import random
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from chat.transcript.citation_places import CodeSpans
from chat.transcript.citations import Citations, count_from_one, linked_documents
from chat.transcript.entries import Document

pytestmark = pytest.mark.pure

DOCUMENTS = {
    1: Document(1, "one", "One", url="https://one.example/a_(b)"),
    2: Document(2, "two", "Two", url="/files/2"),
    3: Document(3, "three", "Three"),
    4: Document(4, "four", "Four", url="javascript:alert(1)"),
}
L1 = "[[1]](https://one.example/a_%28b%29)"
L2 = "[[2]](/files/2)"


def shown(pieces, mode="links", documents=DOCUMENTS):
    citations = Citations(documents, mode)
    output = [each for piece in pieces for each in citations.feed(piece)] + list(citations.flush())
    return output, citations


def text_of(output):
    return "".join(each for each in output if isinstance(each, str))


def in_pieces(text, cuts):
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:stop] for start, stop in pairwise(places)]


TABLE = [
    ("Wet [1].", f"Wet {L1}."),
    ("Wet [[1]].", f"Wet {L1}."),
    ("Wet 【1】.", f"Wet {L1}."),
    ("Wet [1, 2].", f"Wet {L1}{L2}."),
    ("Wet 【1\uff0c2】 [1、2].", f"Wet {L1}{L2} {L1}{L2}."),
    # As gpt-oss cites
    ("Wet 【1†source】.", f"Wet {L1}."),
    ("Wet 【2†L3-L7】【1, 2†】.", f"Wet {L2}{L1}{L2}."),
    ("Wet 【9†source】.", "Wet 【9†source】."),
    ("Wet 【1†so\nurce】, [1†source].", "Wet 【1†so\nurce】, [1†source]."),
    (f"Wet 【1†{'x' * 41}】.", f"Wet 【1†{'x' * 41}】."),
    ("Wet 【1†sou", "Wet 【1†sou"),
    ("Wet [1,2] [[ 2 , 1 ]].", f"Wet {L1}{L2} {L2}{L1}."),
    ("Wet [1][2]", f"Wet {L1}{L2}"),
    ("Wet [1, 9].", "Wet [1, 9]."),
    ("Wet [9].", "Wet [9]."),
    ("Wet [[9]](https://nine.example) [9, 8].", "Wet [[9]](https://nine.example) [9, 8]."),
    ("No address [3], none to trust [[4]].", "No address [3], none to trust [4]."),
    # What a model copies from our own links
    ("Wet [[1]](https://made.up).", f"Wet {L1}."),
    ('Wet [1](https://made.up "One").', f"Wet {L1}."),
    ("Wet [1](and more).", f"Wet {L1}(and more)."),
    ("In [2024](https://news.example) it was wet [1].", f"In [2024](https://news.example) it was wet {L1}."),
    # No citations
    ("- [ ] to do, [x] done, [a], [^1], [], [1a], [,]", "- [ ] to do, [x] done, [a], [^1], [], [1a], [,]"),
    (r"\[1\] and \\[1]", rf"\[1\] and \\{L1}"),
    ("[[1] and [1", "[[1] and [1"),
    ("[[", "[["),
    ("`a[1]` [1]", f"`a[1]` {L1}"),
    ("``a ` [1]`` [1]", f"``a ` [1]`` {L1}"),
    (r"\`[1]\`", rf"\`{L1}\`"),
    ("`a\\` [1]", f"`a\\` {L1}"),
    ("`open [1]\n\nnext [1]", f"`open [1]\n\nnext {L1}"),
    ("```py\na[1]\n\n``\nb[1]\n```\n[1]", f"```py\na[1]\n\n``\nb[1]\n```\n{L1}"),
    ("~~~\n[1]\n```\n[1]\n~~~~ \n[1]", f"~~~\n[1]\n```\n[1]\n~~~~ \n{L1}"),
    ("```\n[1]\n``` no\n[1]\n```\n[1]", f"```\n[1]\n``` no\n[1]\n```\n{L1}"),
    ("1. - > ```\n  > [1]\n  > ```\n  > [1]", f"1. - > ```\n  > [1]\n  > ```\n  > {L1}"),
    ("```[1]``` [1]", f"```[1]``` {L1}"),
    ("~~gone [1]~~", f"~~gone {L1}~~"),
    ("It's ` odd [1]\n```\n[1]\n\n[1]\n```\n[1]", f"It's ` odd [1]\n```\n[1]\n\n[1]\n```\n{L1}"),
    # Of documents, and yet no citations
    ("m[3][2] = 7, b[1], x_2[1]", "m[3][2] = 7, b[1], x_2[1]"),
    ("m[2][1]", "m[2][1]"),
    ("a[0] [0, 1] [01]", "a[0] [0, 1] [01]"),
    ("$x \\in [1, 2]$ [1]", f"$x \\in [1, 2]$ {L1}"),
    ("$$[2, 3]$$ [1]", f"$$[2, 3]$$ {L1}"),
    ("$$\n[2]\n\n[1]", f"$$\n{L2}\n\n{L1}"),
    ("\\( [1] \\) \\[ [2] \\] [1]", f"\\( [1] \\) \\[ [2] \\] {L1}"),
    ("\\begin{matrix} [1] \\end{matrix} [1]", f"\\begin{{matrix}} [1] \\end{{matrix}} {L1}"),
    ("$5 or $6 [1]. $7 and more [2] for 8$.", f"$5 or $6 {L1}. $7 and more {L2} for 8$."),
    ("$a [1] b$2 and $a [1] b$", f"$a {L1} b$2 and $a [1] b$"),
    (
        "[t](https://a.example/[1]) https://a.example/[1] [t](https://a.example)[1]",
        f"[t](https://a.example/[1]) https://a.example/[1] [t](https://a.example){L1}",
    ),
    ("""{"ids": [1, 2]} 'a'[1] \"b\"[2] x:[1]""", """{"ids": [1, 2]} 'a'[1] \"b\"[2] x:[1]"""),
    ("x = [1, 2], x ∈ [1], [[1, 2], [2, 3]]", "x = [1, 2], x ∈ [1], [[1, 2], [2, 3]]"),
    (
        "[1]: https://a.example\n[1]: so\nIn [1]: https://a.example",
        f"[1]: https://a.example\n{L1}: so\nIn {L1}: https://a.example",
    ),
    ("干燥[1]。2024[1]", f"干燥{L1}。2024{L1}"),
    ("使用GPU加速[1]。OpenAI发布了[2]", f"使用GPU加速{L1}。OpenAI发布了{L2}"),
    ("![1](https://a.example/x.png) Wow![1]", f"![1](https://a.example/x.png) Wow!{L1}"),
    ("Wet [1](2023), [2](第5页).", f"Wet {L1}(2023), {L2}(第5页)."),
    (
        "[1]: Note: it rained\n[1]: Zusammenfassungsberichtes: nass",
        f"{L1}: Note: it rained\n{L1}: Zusammenfassungsberichtes: nass",
    ),
    ("|https://a.example|[1]|", f"|https://a.example|{L1}|"),
    ("Siehe `a\nb`[1]: https://x.example", f"Siehe `a\nb`{L1}: https://x.example"),
    # Invented
    ("[9]", "[9]"),
    (" [8]\n[[9]] ", " [8]\n[[9]] "),
    ("[9] is it.", "[9] is it."),
    (" \n", " \n"),
    ("", ""),
]


@pytest.mark.parametrize(("written", "text"), TABLE)
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_citations_become_links_however_the_text_is_split(written, text, size):
    output, _ = shown([written[at : at + size] for at in range(0, len(written), size)])
    assert text_of(output) == text


@pytest.mark.parametrize(
    ("mode", "text", "cited"),
    [
        ("links", f"Wet {L1}{L2}, [9].", [1, 2]),
        ("plain", "Wet [1][2], [9].", [1, 2]),
    ],
)
def test_each_citation_mode_links_or_keeps_numbers(mode, text, cited):
    output, citations = shown(["Wet [[1, 2]](https://made.up), [9]."], mode)
    assert text_of(output) == text
    assert list(citations.cited) == cited


def test_an_address_cannot_break_out_of_its_link():
    document = Document(1, "one", "One", url="https://a.example/ (x)\n<b>")
    assert text_of(shown(["So [1]."], documents={1: document})[0]) == (
        "So [[1]](https://a.example/%20%28x%29%0A%3Cb%3E)."
    )


def test_a_document_is_announced_once_and_before_its_first_link():
    output, citations = shown(["A [1", "] b [2] c [1], [3, 2]"])
    assert output == [
        "A ",
        DOCUMENTS[1],
        f"{L1} b ",
        DOCUMENTS[2],
        f"{L2} c {L1}, ",
        DOCUMENTS[3],
        f"[3]{L2}",
    ]
    assert citations.cited == {number: DOCUMENTS[number] for number in (1, 2, 3)}


def test_documents_announced_by_an_earlier_attempt_are_not_announced_again():
    citations = Citations(DOCUMENTS, cited=[DOCUMENTS[1]])
    assert [*citations.feed("[1]"), *citations.flush()] == [L1]
    assert list(citations.cited) == [1]


def test_without_documents_text_passes_unchanged_and_undelayed():
    citations = Citations({})
    assert list(citations.feed("[1")) == ["[1"]
    assert list(citations.feed("]")) == ["]"]
    assert list(citations.flush()) == []


def test_documents_found_between_two_inferences_can_be_cited_in_the_second():
    documents = {}
    citations = Citations(documents)
    before = [*citations.feed("I look at ```[1]"), *citations.flush()]
    documents[1] = DOCUMENTS[1]
    assert [*before, *citations.feed("Wet [1]"), *citations.flush()] == [
        "I look at ```[1]", "Wet ", DOCUMENTS[1], L1,
    ]  # fmt: skip


def test_only_a_possible_citation_is_held_back():
    citations = Citations(DOCUMENTS)
    assert list(citations.feed("Wet ")) == ["Wet "]
    assert list(citations.feed("[")) == []
    assert list(citations.feed("a] [1")) == ["[a] "]
    assert list(citations.feed("]")) == []
    assert list(citations.feed(" so")) == [DOCUMENTS[1], f"{L1} so"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "written",
    [
        "[1]:" + " " * 5_000,
        "The $AAPL share [1] " + "rose " * 2_000,
        "x[" + "1, " * 5_000,
        "x[1](" + "a" * 5_000,
        " [9]" * 5_000 + " ",
        "`" * 5_000,
        "[[1]](u" * 5_000,
    ],
)
def test_the_held_text_is_bounded(written):
    citations = Citations(DOCUMENTS)
    waiting = list(citations.feed(written)), list(citations.flush())
    assert len(text_of(waiting[1])) < 2_500


PROSE = ["The interval [0, 1] is closed. ", "In [2024] it rose [7], ", "m[3][4] = 7; a[10] to 5\n", "$x \\in [3, 4]$ and $$[2, 3]$$ ",
         "| a[1] | b[2] |\n", "`v[1]` ", "\n```py\nv[1] = [1]\n```\n", '{"ids": [1, 4]} ', "http://example.org/a[1] ", "[12] said 'so [1, 12]' ",
         "[text][1] [note](https://a.example/x[2]) ", "[9]: https://nine.example\n", "It costs $5 and $6. ", "\\[ A = [1 \\] ", "[x] [ ] [^1] ", "x = [1, 2]; "]  # fmt: skip
CITED = [("Dry [1]. ", f"Dry {L1}. "), ("Wet [1, 2], ", f"Wet {L1}{L2}, "), ("So 【2†source】.\n\n", f"So {L2}.\n\n"), ("(see [[1]](https://made.up))\n", f"(see {L1})\n")]  # fmt: skip


@pytest.mark.parametrize("seed", range(200))
def test_an_answer_changes_in_the_links_to_its_sources_alone(seed):
    chance = random.Random(seed)
    pieces = [chance.choice([(each, each) for each in PROSE] + CITED) for _ in range(30)]
    written, expected = ("".join(side) for side in zip(*pieces, strict=True))
    cuts = [chance.randrange(len(written)) for _ in range(len(written) // 4)]
    assert text_of(shown(in_pieces(written, cuts))[0]) == expected


@given(
    text=st.lists(
        st.one_of(
            st.sampled_from(
                ["[", "]", "【", "】", "$", "$$", "\\", "(", ")", "`", "\n", " ", ", ", "5", "40", "0", "]("]
            ),
            st.text(max_size=4),
        ),
        max_size=25,
    ).map("".join),
    cuts=st.lists(st.integers(0, 200), max_size=12),
)
def test_a_text_without_a_known_number_is_shown_as_it_is_written(text, cuts):
    assume(not re.search(r"(?<![0-9])[1-4](?![0-9])", text))
    assert text_of(shown(in_pieces(text, cuts))[0]) == text


@pytest.mark.parametrize(
    ("text", "counted", "cited"), json.loads(Path(__file__).with_name("citation_places.json").read_text())
)
def test_people_see_sources_counted_from_one_where_a_stored_text_cites_them(text, counted, cited):
    documents = [Document(number, f"d{number}", f"T{number}") for number in (1, 2, 3)]
    documents += [
        Document(75, "f", "File", url="/files/75"),
        Document(76, "w", "Web", url="https://a.example/76"),
    ]
    shown_text, sources = count_from_one(text, documents)
    assert shown_text == counted
    assert [source.number for source in sources] == [1, 2, 3, 4, 5]
    ids = {document.number: document.document_id for document in documents}
    assert [source.document_id for source in sources[: len(cited)]] == [ids[number] for number in cited]


def test_only_a_citation_makes_a_document_without_an_address_one_of_the_answer():
    documents = [DOCUMENTS[3], DOCUMENTS[4], DOCUMENTS[1]]
    assert linked_documents(f"m[3] = 4, so [4] {L1}", documents) == [DOCUMENTS[4], DOCUMENTS[1]]


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("part", ["\\([1] ", "$x [1] ", "\\(" * 20 + " [1] ", "[[1], ", "://[1] ", "x [1] $"])
def test_hostile_text_is_read_in_a_time_that_grows_with_its_length(part):
    """Counted in calls of the interpreter, so that it does not depend on how fast the machine is."""

    def lines(length):
        counted = [0]

        def count(_frame, _event, _argument):
            counted[0] += 1

        written = (part * length)[:length]
        citations = Citations({1: DOCUMENTS[1]})
        sys.setprofile(count)
        try:
            for at in range(0, length, 20):
                list(citations.feed(written[at : at + 20]))
            list(citations.flush())
        finally:
            sys.setprofile(None)
        return counted[0]

    assert lines(8_000) < 2.6 * lines(4_000)


alphabet = st.sampled_from(
    [
        "[",
        "]",
        "[1]",
        "[[2]]",
        "【3】",
        "[9]",
        "1",
        ", ",
        " ",
        "\n",
        "`",
        "```",
        "~~~",
        "\\",
        "(",
        ")",
        "(u)",
        '"',
        "é",
        "> ",
        "$",
        "$$",
        "x",
        ": ",
    ]
)


@given(
    text=st.lists(alphabet, max_size=30).map("".join),
    cuts=st.lists(st.integers(0, 200), max_size=12),
    mode=st.sampled_from(["links", "plain"]),
)
@example(text="\\[1]", cuts=[1], mode="links")
def test_the_result_does_not_depend_on_how_the_text_is_split(text, cuts, mode):
    whole, at_once = shown([text], mode)
    cut, in_parts = shown(in_pieces(text, cuts), mode)
    assert text_of(cut) == text_of(whole)
    assert in_parts.cited == at_once.cited
    for number, document in in_parts.cited.items():
        before = text_of(cut[: cut.index(document)])
        assert f"[[{number}]](" not in before or f"[[{number}]](" in text


@given(text=st.lists(alphabet, max_size=30).map("".join), cuts=st.lists(st.integers(0, 200), max_size=12))
def test_splitting_code_from_prose_loses_no_text(text, cuts):
    def parts(pieces):
        spans = CodeSpans()
        read = [part for piece in pieces for part in spans.feed(piece)] + list(spans.flush())
        return [(character, part.is_code) for part in read for character in part.text]

    assert "".join(character for character, _ in parts([text])) == text
    assert parts(in_pieces(text, cuts)) == parts([text])


@given(text=st.text(st.characters(exclude_characters="[【"), max_size=60))
def test_text_without_brackets_is_unchanged(text):
    assert text_of(shown([text])[0]) == text
