"""When a branch is too long, and where it is cut."""

from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.transcript.entries import Block, Call, Document, Entry, Round, TextFile
from compression.plan import Row, get_compression_params, get_messages_to_summarize, measure_rows
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.model_message import total_tokens
from tests.compression.branches import SENT_AT, branches, tokens_of
from tests.examples import examples

pytestmark = pytest.mark.pure

RENDERER = MessageRenderer(tokens_of)


def rows(notation: str) -> list[Row]:
    """`u30 a20`: a question of 30 tokens, an answer of 20."""
    return [
        Row(Entry(f"{word}#{n}", "user" if word[0] == "u" else "assistant", "", SENT_AT), int(word[1:]))
        for n, word in enumerate(notation.split())
    ]


def shown(part: list[Row]) -> str:
    return " ".join(row.entry.id.partition("#")[0] for row in part)


@pytest.mark.parametrize(
    ("history", "summary", "window", "ratio", "is_due"),
    [
        pytest.param("u6000", 0, 8000, 0.75, False, id="6,000 of 8,000 is not yet too long"),
        pytest.param("u6001", 0, 8000, 0.75, True, id="6,001 is"),
        pytest.param("u3000 a2000", 1000, 8000, 0.75, False, id="the summary counts"),
        pytest.param("u3000 a2001", 1000, 8000, 0.75, True, id="the summary counts, one more"),
        pytest.param("u29", 0, 100, 0.29, False, id="no rounding moves the limit"),
        pytest.param("u30", 0, 100, 0.29, True, id="nor the token behind it"),
        pytest.param("", 0, 100, 0.75, False, id="an empty branch"),
        pytest.param("u1", 0, 0, 0.75, True, id="no room for history at all"),
    ],
)
def test_a_history_is_due(history: str, summary: int, window: int, ratio: float, is_due: bool) -> None:
    params = get_compression_params(rows(history), summary, history_window=window, trigger_ratio=ratio)
    assert params.is_due is is_due


@pytest.mark.parametrize(
    ("branch", "older", "recent"),
    [
        pytest.param("u40 a40 u10 a10", "u40 a40", "u10 a10", id="a fifth of the history stays"),
        pytest.param("u40 a40 u10 a11", "u40 a40", "u10 a11", id="a tail of answers alone grows to its question"),
        pytest.param("u40 a39 u10 a11", "u40 a39", "u10 a11", id="a question that does not fit stays with its answer"),
        pytest.param("u40 a40 u5 a5 u5 a5", "u40 a40", "u5 a5 u5 a5", id="as many turns as fit"),
        pytest.param("u40 a35 u5 a10 u5 a5", "u40 a35 u5 a10", "u5 a5", id="an answer at the front goes with the older"),
        pytest.param("u10 a10 u90", "u10 a10", "u90", id="at least one, however long"),
        pytest.param("u10 a10 u5 a90", "u10 a10", "u5 a90", id="a long answer keeps its question"),
        pytest.param("u10 a90", None, None, id="a single turn has nothing older"),
        pytest.param("u10", None, None, id="a single question"),
        pytest.param("a10 a10", None, None, id="no question at all"),
        pytest.param("", None, None, id="nothing"),
        pytest.param("a90 u5 a5", "a90", "u5 a5", id="an answer right after the cutoff"),
        pytest.param("u0 a0 u0 a0", None, None, id="a history of no tokens all stays"),
    ],
)  # fmt: skip
def test_the_cut(branch: str, older: str | None, recent: str | None) -> None:
    history = rows(branch)
    split = get_messages_to_summarize(history, sum(row.tokens for row in history), 0.2)
    assert (split and (shown(split.older), shown(split.recent))) == (older and (older, recent))


def test_the_summary_counts_among_what_a_fifth_is_taken_of() -> None:
    history = rows("u20 a20 u10 a10")
    assert shown(get_messages_to_summarize(history, 60, 0.2).recent) == "u10 a10"
    assert shown(get_messages_to_summarize(history, 250, 0.2).recent) == "u10 a10"
    assert get_messages_to_summarize(history, 300, 0.2) is None


@given(branches(), st.integers(0, 500), st.floats(0.05, 0.95))
@settings(max_examples=examples(200))
def test_every_cut(branch: list[Entry], summary: int, ratio: float) -> None:
    history = measure_rows(branch, RENDERER)
    tokens = summary + sum(row.tokens for row in history)
    split = get_messages_to_summarize(history, tokens, ratio)
    if split is None:
        return
    assert [*split.older, *split.recent] == history, "no row twice, none missing"
    assert split.older
    assert split.recent[0].is_users
    assert split.cutoff == split.older[-1].entry.id
    assert any(row.is_users for row in split.recent), "the last question always stays"
    last_question = max(n for n, row in enumerate(history) if row.is_users)
    if len(split.older) < last_question:
        assert sum(row.tokens for row in split.recent) <= ratio * tokens + 1e-6


@given(branches(), st.floats(0.05, 0.95))
@settings(max_examples=examples(100))
def test_no_later_question_would_have_kept_more(branch: list[Entry], ratio: float) -> None:
    history = measure_rows(branch, RENDERER)
    tokens = sum(row.tokens for row in history)
    split = get_messages_to_summarize(history, tokens, ratio)
    if split is None:
        return
    earlier = [n for n, row in enumerate(split.older) if row.is_users]
    if earlier:
        assert sum(row.tokens for row in history[earlier[-1] :]) > ratio * tokens - 1e-6


def test_a_row_costs_what_a_later_request_shows_of_it() -> None:
    document = Document(1, "d", "notes.txt", "one two three four")
    question = Entry(
        "u", "user", "what is this", SENT_AT,
        files=(TextFile("f", "notes.txt", 9, document),), blocks=(Block("CA", "be brief"),),
    )  # fmt: skip
    call = Call(
        "c", "web_search", {"query": "long arguments are paid for"}, "a response nobody pays for " * 99
    )
    answer = Entry("a", "assistant", "look first then this", SENT_AT, rounds=(Round((call,), "look first "),))
    alone = [replay_of(question), replay_of(answer)]
    assert [row.tokens for row in measure_rows([question, answer], RENDERER)] == alone
    assert alone[1] < 99


def replay_of(entry: Entry) -> int:
    if entry.role == "assistant":
        return sum(total_tokens(group) for group in RENDERER.render_answer(entry))
    return total_tokens(
        [*RENDERER.render_blocks(entry), RENDERER.render_files(entry), RENDERER.render_user(entry)]
    )


@given(branches())
@settings(max_examples=examples(50))
def test_roles_alternate_on_both_sides_of_every_cut(branch: list[Entry]) -> None:
    history = measure_rows(branch, RENDERER)
    split = get_messages_to_summarize(history, sum(row.tokens for row in history), 0.2)
    for part in (split.older, split.recent) if split else ():
        assert all(len(list(group)) == 1 for _, group in groupby(part, key=lambda row: row.is_users))
