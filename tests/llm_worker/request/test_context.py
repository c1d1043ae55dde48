"""The messages of a request for a given branch and budget, in the notation of notation.py."""

from dataclasses import replace

import pytest

from chat.transcript.entries import Block, Call, Entry, Round
from chat.transcript.tokens import count_tokens
from llm_worker.request.context import Budget, ContextTooLong, build_context, request_budget
from llm_worker.request.history import MAX_LISTED_FILES
from llm_worker.request.message_renderer import OMITTED_RESPONSE, with_sent_at
from llm_worker.request.model_message import arguments_json
from llm_worker.request.prompt_parts import PromptParts
from tests.llm_worker.notation import GONE_COSTS, SENT_AT, built, given, shown, text_file

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("stored", "seen"),
    [
        pytest.param("S U1", "S U1", id="a first question"),
        pytest.param("S U1 A1 U2", "S U1 A1 U2", id="two turns"),
        pytest.param("U1 A1 U2", "U1 A1 U2", id="an empty system prompt is no message"),
        pytest.param("S CA U1 TC TR A1 U2", "S U1 TC TR A1 CA U2", id="an agent's prompt moves down"),
        pytest.param(
            "S CA R U1 TC TR A1 U2 A2 U3 TC TR", "S U1 TC TR A1 U2 A2 CA U3 TC TR R", id="and stays above the turn"
        ),
        pytest.param("S CA P F1 U1", "S CA P F1 U1", id="project and upload"),
        pytest.param("S CA P F1 U1 A1 U2", "S F1 U1 A1 CA P U2", id="the file stays, project and agent move"),
        pytest.param("S U1 R TC TR", "S U1 TC TR R", id="a reminder stands last"),
        pytest.param("S U1 R TC TR TC TR", "S U1 TC TR TC TR R", id="and there is never more than one"),
        pytest.param("S U1 TC TR", "S U1 TC TR", id="no reminder by default"),
        pytest.param("CA U1", "CA U1", id="an agent's prompt without a system prompt"),
        pytest.param(
            "S SUM CA P D R U1 A1 U2 A2 F1 U3 TC TR", "S SUM U1 A1 U2 A2 CA P D F1 U3 TC TR R", id="everything"
        ),
        pytest.param("S D U1 A1 U2", "S U1 A1 D U2", id="dynamic context stands above the question"),
        pytest.param("S D U1 A1 F1 U2", "S U1 A1 D F1 U2", id="and above its files"),
        pytest.param("S U1 F1 F2 F3 U2", "S U1 F1 F2 F3 U2", id="all files of a message are one"),
        pytest.param("S U1 A1- U2", "S U1 U2", id="an answer without text is left out"),
        pytest.param("S U1 TC TR A1- U2", "S U1 TC TR U2", id="but not its calls"),
        pytest.param("S U1 TC TR TR A1 U2 TC TR TR", "S U1 TC TR TR A1 U2 TC TR TR", id="parallel calls"),
        pytest.param("S U1 TC TR TR- A1 U2", "S U1 TC TR A1 U2", id="a call without response is not sent"),
        pytest.param("S U1 TC TR- A1 U2", "S U1 A1 U2", id="nor a round of such"),
        pytest.param("S U1 TC TR- A1- U2", "S U1 U2", id="nor what is left without it"),
        pytest.param("S CA1 D1 U1 A1 U2", "S CA1 D1 U1 A1 U2", id="stored blocks keep their place"),
        pytest.param("S D1 P1 CA1 F1 U1", "S CA1 P1 D1 F1 U1", id="in the order of the others"),
        pytest.param("S D1 U1 A1 D2 U2", "S D1 U1 A1 D2 U2", id="and stand again where they changed"),
        pytest.param("S D D1 U1 A1 D2 U2", "S D1 U1 A1 D2 D U2", id="this turn's context follows what is stored"),
    ],
)  # fmt: skip
def test_the_branch_becomes_the_messages_of_the_request(stored, seen):
    assert shown(built(stored).messages) == seen


@pytest.mark.parametrize(
    ("stored", "budget", "seen"),
    [
        pytest.param("S U1 A1 U2 A2 U3", 6, "S U1 A1 U2 A2 U3", id="everything fits exactly"),
        pytest.param("S U1 A1 U2 A2 U3", 5, "S A1 U2 A2 U3", id="the oldest goes first"),
        pytest.param("S U1 A1:9 U2 A2 U3", 8, "S U2 A2 U3", id="it stops at the first that does not fit"),
        pytest.param("S U1 A1 U2", 2, "S U2", id="the question alone"),
        pytest.param("S:5 D:5 U1:5 A1 U2:5", 15, "S D U2", id="what is fixed is charged before history"),
        pytest.param("S R:5 U1:5 A1 U2:5", 12, "S A1 U2 R", id="the reminder too"),
        pytest.param("S SUM:5 CA:5 P:5 U1:5 A1 U2", 17, "S SUM CA P U2", id="and never cut"),
        pytest.param("S U1 A1 U2:5 TC:30 TR:5", 42, "S A1 U2 TC TR", id="tool responses of this turn are kept"),
        pytest.param("S U1 TC:30 TR A1 U2", 33 + GONE_COSTS, "S TC TR A1 U2", id="a round fits exactly"),
        pytest.param("S U1 TC:30 TR A1 U2", 32 + GONE_COSTS, "S A1 U2", id="calls and responses go together"),
        pytest.param("S F1:9 U1 A1 U2", 5, "S U1 A1 U2", id="a file goes before its message"),
        pytest.param("S CA1:3 D1:3 U1 A1 U2", 10, "S CA1 D1 U1 A1 U2", id="stored blocks fit"),
        pytest.param("S CA1:3 D1:3 U1 A1 U2", 9, "S A1 CA1 D1 U2", id="the newest of each kind move instead of going"),
        pytest.param("S CA1:3 U1 A1 CA2:3 U2 A2 U3", 7, "S CA2 U2 A2 U3", id="older ones go"),
        pytest.param("S CA1:3 U1 A1 CA2:3 U2 A2 U3", 6, "S A2 CA2 U3", id="and do not come back"),
    ],
)  # fmt: skip
def test_the_newest_messages_that_fit_are_sent(stored, budget, seen):
    context = built(stored, budget)
    assert shown(context.messages) == seen
    assert context.tokens == sum(message.tokens for message in context.messages) <= budget


@pytest.mark.parametrize(
    "stored", ["S:2 U1:2", "S D:2 U1", "U1:4", "S U1 A1 U2:3", "S R:2 U1", "S CA1:2 U1 A1 U2"]
)
def test_a_question_that_does_not_fit_is_rejected(stored):
    with pytest.raises(ContextTooLong):
        built(stored, 3)


@pytest.mark.parametrize(
    ("stored", "budget", "for_rounds", "tight"),
    [
        ("S U1", 100, 0, False),
        ("S:90 U1", 100, 0, True),
        ("S:80 U1", 100, 0, False),
        ("U1 A1:500 U2", 100, 0, True),
        ("S:80 U1", 100, 20, False),
        ("S:80 U1 A1:5 U2", 100, 20, True),
    ],
)
def test_a_request_near_the_budget_or_truncated_is_tight(stored, budget, for_rounds, tight):
    assert built(stored, budget, for_rounds).is_tight is tight


def test_history_leaves_room_for_tool_rounds():
    stored = "S U1:30 A1:30 U2:30 A2:10 U3"
    assert shown(built(stored, 150, for_rounds=60).messages) == "S A1 U2 A2 U3"
    assert shown(built(f"{stored} TC:30 TR:20", 150, for_rounds=60).messages) == "S A1 U2 A2 U3 TC TR"
    assert shown(built(stored, 20 + 102, for_rounds=10**6).messages) == "S U2 A2 U3", (
        "at most half of what is free"
    )


def test_large_rounds_displace_history_and_not_the_question():
    stored = "S U1:30 A1:30 U2:30 A2:10 U3 TC:90 TR:20"
    assert shown(built(stored, 150).messages) == "S A2 U3 TC TR"


def test_a_user_message_ends_with_its_minute_in_utc():
    assert with_sent_at("Hi", SENT_AT) == "Hi\n\n<sent_at>2026-11-21 14:05 UTC</sent_at>"
    assert with_sent_at("", SENT_AT) == "<sent_at>2026-11-21 14:05 UTC</sent_at>"


def test_earlier_messages_are_byte_identical_in_later_turns():
    early = built("S F1 U1").messages
    late = built("S F1 U1 A1 U2 A2 U3").messages
    assert list(late[:3]) == list(early)


def test_roles_are_those_of_the_wire():
    context = built("S SUM CA P D R U1 A1 F1 U2 TC TR")
    assert [message.role for message in context.messages] == [
        "system", "user", "user", "assistant", "user", "user", "user", "user", "user", "assistant", "tool", "user",
    ]  # fmt: skip


def test_responses_are_sent_only_within_their_turn():
    now = built("S U1 TC TR TR").messages
    later = built("S U1 TC TR TR A1 U2").messages
    assert [message.text for message in now if message.letter == "TR"] == ["TR", "TR"]
    assert [message.text for message in later if message.letter == "TR"] == [
        OMITTED_RESPONSE,
        OMITTED_RESPONSE,
    ]
    assert list(later[:3]) == list(now[:3]), "the calls and their arguments stay as they were"
    assert (
        [message.tool_call_id for message in later[3:5]] == ["c1", "c2"] == [call.id for call in now[2].calls]
    )


@pytest.mark.parametrize(
    ("stored", "texts"),
    [
        pytest.param("U1 TC+ TR A1 U2", ["before 0 ", "A1"], id="narration stands on the calls"),
        pytest.param("U1 TC+ TR TC+ TR A1 U2", ["before 0 ", "before 1 ", "A1"], id="each on its own"),
        pytest.param("U1 TC+ TR TC TR A1- U2", ["before 0 ", ""], id="nothing is left for an answer"),
        pytest.param("U1 TC+ TR- A1 U2", ["before 0\n\nA1"], id="without its round it begins the answer"),
        pytest.param("U1 TC+ TR- TC+ TR A1 U2", ["before 0\n\nbefore 1 ", "A1"], id="or the next round"),
        pytest.param("U1 TC TR TC+ TR- A1 U2", ["", "before 1\n\nA1"], id="an interrupted round's is kept"),
    ],
)
def test_text_before_tools(stored, texts):
    sent = [message.text for message in built(stored).messages if message.role == "assistant"]
    assert sent == texts


def test_text_that_does_not_begin_with_its_narration_is_sent_once_and_whole():
    rounds = (Round((Call("c", "t", {}, "r"),), text_before="Something else. "),)
    entries = [
        Entry("1", "user", "Q", SENT_AT),
        Entry("2", "assistant", "The answer.", SENT_AT, rounds=rounds),
        Entry("3", "user", "Q", SENT_AT),
    ]
    context = build_context(
        entries, PromptParts(), budget=Budget(10**6), tokens_of=lambda text, _stored: len(text)
    )
    assert [m.text for m in context.messages if m.role == "assistant"] == ["", "The answer."]


def test_reasoning_is_never_replayed():
    assert "thoughts" not in repr(built("S U1 TC TR A1 U2 TC TR").messages)


def test_an_empty_prompt_block_ends_the_one_it_replaces():
    branch = given("S D1 U1 A1 U2 A2 U3")
    first, *rest = branch.entries
    rest[1] = replace(rest[1], blocks=(Block("D", ""),))
    context = build_context(
        [first, *rest], branch.prompt_parts, budget=Budget(5), tokens_of=branch.tokens_of
    )  # fmt: skip
    assert shown(context.messages) == "S A1 U2 A2 U3"


@pytest.mark.parametrize(
    ("stored", "budget", "seen", "forgotten"),
    [
        pytest.param("S F1 U1 A1 U2", 10**6, "S F1 U1 A1 U2", [], id="nothing is forgotten"),
        pytest.param("S F1:900 U1 A1 U2", 400, "S U1 A1 N U2", ["id-F1"], id="listed above the question"),
        pytest.param("S F1:900 U1 A1 F2 U2", 400, "S U1 A1 N F2 U2", ["id-F1"], id="and above its files"),
        pytest.param(
            "S D F1:900 U1 F2 U2 F3 U3", 500, "S U1 F2 U2 D N F3 U3", ["id-F1"], id="below all that moves"
        ),
        pytest.param("S F1:300 U1 A1 F1:300 U2", 500, "S U1 A1 F1 U2", [], id="a file still shown is not forgotten"),
        pytest.param("S F1:900 U1 A1 U2", 7, "S U1 A1 U2", ["id-F1"], id="a list that does not fit is left out"),
    ],
)  # fmt: skip
def test_omitted_files_are_listed_if_a_tool_can_read_them(stored, budget, seen, forgotten):
    branch = given(stored, reads_files=True)

    def tokens_of(text: str, tokens: int) -> int:
        return len(text) if text.startswith(("These", "- ")) else branch.tokens_of(text, tokens)

    context = build_context(branch.entries, branch.prompt_parts, budget=Budget(budget), tokens_of=tokens_of)
    assert shown(context.messages) == seen
    assert [file.id for file in context.omitted_files] == forgotten
    assert context.tokens <= budget


@pytest.mark.parametrize(
    "contents", ["plain words " * 50, 'def f():\n\n\treturn "a\\\\b"\n' * 50, "äöü — 漢字\n" * 50]
)
def test_stored_counts_of_files_are_used_and_allow_for_what_json_adds(contents):
    counted: list[str] = []

    def tokens_of(text: str, stored: int) -> int:
        counted.extend([] if stored else [text])
        return stored or count_tokens(text)

    file = replace(text_file("F1"), token_count=count_tokens(contents))
    file = replace(file, document=replace(file.document, contents=contents))
    entries = [Entry("1", "user", "Q", SENT_AT, files=(file,))]
    [shown_file, _] = build_context(
        entries, PromptParts(), budget=Budget(10**6), tokens_of=tokens_of
    ).messages
    assert counted == ["Q"]
    assert count_tokens(shown_file.text) <= shown_file.tokens <= 1.5 * count_tokens(shown_file.text) + 150


def test_the_list_of_omitted_files_has_ids_and_sizes_and_is_bounded():
    files = tuple(replace(text_file(f"F{n}"), name=f"a\nb {n}.txt") for n in range(50))
    prompt_parts = PromptParts(reads_files=True, summarised_files=files)
    entries = [Entry("1", "user", "Q", SENT_AT)]
    context = build_context(entries, prompt_parts, budget=Budget(10**6), tokens_of=lambda text, _: len(text))
    heading, first, *rest = context.messages[0].text.splitlines()
    assert heading.endswith("by their id:")
    assert first == "- a b 0.txt (id id-F0, 1234 bytes)"
    assert len(rest) == MAX_LISTED_FILES - 1
    assert len(context.omitted_files) == 50


def test_without_a_tool_that_reads_files_none_is_listed():
    context = built("S F1:900 U1 A1 U2", 400)
    assert shown(context.messages) == "S U1 A1 U2"
    assert [file.name for file in context.omitted_files] == ["F1.txt"]


def test_arguments_are_byte_identical_whatever_their_stored_order():
    assert (
        arguments_json({"b": "ü", "a": [1, {"d": 1, "c": None}]})
        == '{"a": [1, {"c": null, "d": 1}], "b": "ü"}'
    )
    assert arguments_json({"b": 1, "a": 2}) == arguments_json({"a": 2, "b": 1})


@pytest.mark.parametrize(
    ("window", "output", "schemas", "budget"),
    [(128_000, 4096, 0, 117_504), (2048, 512, 0, 1433), (2048, 512, 100, 1333)],
)
def test_the_budget_is_a_share_of_the_window_less_answer_and_schemas(window, output, schemas, budget):
    assert request_budget(window, output, schemas).tokens == budget


def test_room_for_rounds_is_reserved_only_if_tools_are_offered():
    assert request_budget(128_000, 4096).for_rounds == 0
    assert request_budget(128_000, 4096, 100).for_rounds > 0
