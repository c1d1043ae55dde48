"""The text shown equals the text saved, whatever the model writes and however it is split."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.protocol.wire import AnyPacketBody, Error, Placement, ToolOutput, encode
from chat.transcript.entries import Document
from chat.transcript.packets import Blocks, fold
from llm_worker.loop.emitter import Emitter
from llm_worker.loop.state import RunState
from llm_worker.request.numbered_documents import render_found
from llm_worker.stream.think_tags import split_untagged

pytestmark = pytest.mark.pure


class Shown:
    """A producer that records what it is given."""

    def __init__(self) -> None:
        self.placed: list[tuple[Placement, AnyPacketBody]] = []

    def emit(self, placement: Placement, obj: AnyPacketBody) -> None:
        self.placed.append((placement, obj))

    @property
    def kinds(self) -> list[str]:
        """Type and block of each packet, repeated deltas left out."""
        kinds: list[str] = []
        for placement, obj in self.placed:
            kind = f"{placement.turn_index} {obj.__struct_config__.tag}"
            if not kinds or kinds[-1] != kind:
                kinds.append(kind)
        return kinds


def played(*deltas: tuple[str, str], error: Error | None = None) -> tuple[Shown, RunState]:
    shown, state = Shown(), RunState()
    emitter = Emitter(shown, state, Blocks(), clock=lambda: 7.0)
    emitter.show(Blocks.run_start, "scripted")
    for kind, text in deltas:
        emitter.text(text) if kind == "text" else emitter.reasoning(text)
    emitter.end()
    emitter.stop("error" if error else "finished", error)
    return shown, state


def cut(text: str, cuts: list[int]) -> list[str]:
    places = sorted({min(place, len(text)) for place in cuts})
    return [text[start:stop] for start, stop in zip([0, *places], [*places, len(text)], strict=True)]


def test_reasoning_answer_and_end_are_separate_blocks():
    shown, state = played(("reasoning", "Hm."), ("text", "So."), ("reasoning", "No."), ("text", "Else."))
    assert shown.kinds == [
        "0 run_start",
        "0 reasoning_start", "0 reasoning_delta", "0 reasoning_done",
        "1 message_start", "1 message_delta", "1 section_end",
        "2 reasoning_start", "2 reasoning_delta", "2 reasoning_done",
        "3 message_start", "3 message_delta", "3 section_end",
        "4 stop",
    ]  # fmt: skip
    assert (state.text, state.reasoning, state.first_token_at) == ("So.Else.", "Hm.No.", 7.0)


def test_an_error_closes_the_open_block_and_precedes_stop():
    shown, _ = played(("text", "Half"), error=Error("upstream_interrupted", "It broke off.", True))
    assert shown.kinds[-3:] == ["0 section_end", "1 error", "1 stop"]


THOUGHTS = [
    pytest.param("<think>Hm.</think>So.", "Hm.", "So.", id="thinking"),
    pytest.param("\n <think>\nHm.\n</think>\n\nSo.", "Hm.\n", "So.", id="blank lines around it"),
    pytest.param("<think></think>So.", "", "So.", id="no thought"),
    pytest.param("<think>Hm.", "Hm.", "", id="never closed"),
    pytest.param("<think>a < b </thin c</think>So.", "a < b </thin c", "So.", id="almost closed"),
    pytest.param("Write <think> first.</think>", "", "Write <think> first.</think>", id="later it is text"),
    pytest.param("<thinker>So.", "", "<thinker>So.", id="another tag is text"),
    pytest.param("<thi", "", "<thi", id="half a tag is text"),
    pytest.param("  So.", "", "  So.", id="leading blanks are kept"),
    pytest.param("<think>Hm.</think>So </think> <think>", "Hm.", "So </think> <think>", id="only once"),
    pytest.param("<think>Hm.</think>\n\n", "Hm.", "", id="nothing after it"),
]


@pytest.mark.parametrize(("written", "reasoning", "text"), THOUGHTS)
@given(cuts=st.lists(st.integers(0, 40), max_size=40))
def test_think_tags_are_recognised_however_the_text_is_split(written, reasoning, text, cuts):
    _, state = played(*(("text", piece) for piece in cut(written, cuts)))
    assert (state.reasoning, state.text) == (reasoning, text)


AWKWARD = ["\x00", "</think>\n", "\ud83d", "\ude00", "😀", "<", "think>", "</think>", "漢", "e\u0301"]
NASTY = st.lists(st.one_of(st.characters(), st.sampled_from(AWKWARD)), max_size=30).map("".join)


@given(deltas=st.lists(st.tuples(st.sampled_from(["text", "reasoning"]), NASTY), max_size=10), data=st.data())
def test_the_text_shown_equals_the_text_saved_and_can_be_stored_and_sent(deltas, data):
    pieces: list[Any] = []
    for kind, text in deltas:
        cuts = data.draw(st.lists(st.integers(0, 30), max_size=5))
        pieces += [(kind, piece) for piece in cut(text, cuts)]
    shown, state = played(*pieces)
    seen = fold(shown.placed)
    if state.has_untagged_thinking:
        # Was shown as text; a snapshot at the end of the run shows what is saved (attempt_phases.py).
        assert split_untagged(seen.text) == (state.reasoning, state.text)
    else:
        assert (seen.text, seen.reasoning) == (state.text, state.reasoning)
    assert "\x00" not in state.text + state.reasoning
    (state.text + state.reasoning).encode()
    assert all(encode(obj) for _, obj in shown.placed)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        pytest.param(["a\ud83d", "\ude00b"], "a😀b", id="a pair over two deltas"),
        pytest.param(["\ud83d\ude00"], "😀", id="a pair in one delta"),
        pytest.param(["a\ud83d", "b"], "a\ufffdb", id="a first half alone"),
        pytest.param(["\ude00b"], "\ufffdb", id="a second half alone"),
        pytest.param(["a\ud83d"], "a\ufffd", id="a first half at the end"),
        pytest.param(["\ud83d", "\ud83d", "\ude00"], "\ufffd😀", id="two first halves"),
        pytest.param(["a\x00b"], "a\ufffdb", id="NUL"),
    ],
)
def test_text_that_cannot_be_stored_is_replaced(pieces, text):
    _, state = played(*(("text", piece) for piece in pieces))
    assert state.text == text


def test_what_a_search_says_beside_its_documents_is_shown_beside_them():
    found = Document(1, "one", "One", "Text.")
    for response, shown in (
        (render_found([found], "More comes."), "More comes."),
        (render_found([found]), None),
        ("Plain.", None),
        ('{"note": 3}', None),
    ):
        blocks = Blocks()
        list(blocks.tool_start(0, "call", "search_project"))
        [(_, packet)] = blocks.tool_output(0, response, [found], "row")
        assert isinstance(packet, ToolOutput)
        assert (packet.output, [source.title for source in packet.documents or ()]) == (shown, ["One"])
