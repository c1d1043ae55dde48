"""Where a subscriber stands, as a table; and the joining law for any way of cutting and losing publications."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.log.cursor import START, Action, Cursor, Decision, Header, Position, decide, parse_header
from chat.protocol import wire as p
from chat.transcript.packets import Blocks, fold

pytestmark = pytest.mark.pure

FORWARD, DUPLICATE, GAP = Decision(Action.FORWARD), Decision(Action.DUPLICATE), Decision(Action.GAP)
RESET, REOPEN = Decision(Action.RESET), Decision(Action.REOPEN)


@pytest.mark.parametrize(
    ("cursor", "header", "decision"),
    [
        pytest.param(START, (1, 1, 3), FORWARD, id="the first packets of a run"),
        pytest.param(START, (1, 2, 3), GAP, id="a run that began before"),
        pytest.param(START, (4, 1, 3), FORWARD, id="nothing was shown, so nothing is forgotten"),
        pytest.param(START, (4, 0, 1), REOPEN, id="a snapshot opens what was never seen"),
        pytest.param((1, 3), (1, 4, 4), FORWARD, id="the next packet"),
        pytest.param((1, 3), (1, 3, 3), DUPLICATE, id="the packet that was taken last"),
        pytest.param((1, 3), (1, 1, 2), DUPLICATE, id="packets taken long ago"),
        pytest.param((1, 3), (1, 2, 5), Decision(Action.TRIM, 2), id="an overlap is cut"),
        pytest.param((1, 3), (1, 5, 5), GAP, id="one packet is missing"),
        pytest.param((2, 3), (1, 4, 9), DUPLICATE, id="an older attempt says nothing"),
        pytest.param((1, 3), (2, 1, 2), RESET, id="a newer attempt starts again"),
        pytest.param((1, 3), (2, 0, 2), REOPEN, id="a snapshot announces the newer attempt"),
        pytest.param((1, 3), (2, 2, 2), GAP, id="the start of a newer attempt is missing"),
        pytest.param((1, 0), (1, 1, 1), FORWARD, id="a cursor before the first packet"),
        pytest.param((2, 0), (2, 1, 1), FORWARD, id="after the snapshot that opened the attempt"),
    ],
)
def test_a_publication_is(cursor, header, decision):
    assert decide(Cursor(*cursor), Header(*header)) == decision


def test_events_of_a_session_follow_the_same_rules():
    position = Position(Cursor(1, 7))
    verdicts = [position.take(Header(1, n, n)).action for n in (7, 8, 10, 9)]
    assert verdicts == [Action.DUPLICATE, Action.FORWARD, Action.GAP, Action.FORWARD]


def test_a_header_is_the_first_line_of_a_publication():
    payload = b'run-1 2 3 14\n{"a":"1 2"}\n{}'
    assert parse_header(payload, payload.index(b"\n")) == ("run-1", Header(2, 3, 14))


# --- The joining law: what REST shows at a cursor, and the packets after it, are the whole text --------------

PIECES = st.sampled_from(
    ["a", "日本語", "👩‍👩‍👧", "e\u0301", "\u0301", "\n", '"', "\\u0000", "مرحبا", " ", "🇨🇭", "{}"]
)
TEXTS = st.lists(st.lists(PIECES, min_size=1, max_size=4).map("".join), min_size=1, max_size=12)


def recorded(reasonings: list[str], texts: list[str], merge: random.Random) -> list[bytes]:
    """The log of one run, its deltas merged at random as a publisher under load would."""
    blocks = Blocks()
    placed = list(blocks.run_start("m"))
    for text in reasonings:
        placed += blocks.reasoning(text)
    for text in texts:
        placed += blocks.message(text)
    placed += blocks.stop("finished")
    merged: list[tuple[p.Placement, p.AnyPacketBody]] = []
    for where, obj in placed:
        mergeable = isinstance(obj, p.MessageDelta | p.ReasoningDelta) and merged
        if mergeable and type(merged[-1][1]) is type(obj) and merge.random() < 0.5:
            merged[-1] = (where, type(obj)(text=merged[-1][1].text + obj.text))
        else:
            merged.append((where, obj))
    return [p.encode(p.Packet("s", "r", 1, seq, *one)) for seq, one in enumerate(merged, start=1)]


def shown(lines: list[bytes]) -> tuple[str, str]:
    seen = fold((entry.placement, entry.obj) for entry in map(p.decode_log_entry, lines))
    return seen.text, seen.reasoning


@given(TEXTS, TEXTS, st.randoms(use_true_random=False))
def test_text_at_any_cursor_joined_with_the_packets_after_it_is_the_whole_text(reasonings, texts, merge):
    lines = recorded(reasonings, texts, merge)
    whole = ("".join(texts), "".join(reasonings))
    assert shown(lines) == whole
    for cut in range(len(lines) + 1):
        before, after = shown(lines[:cut]), shown(lines[cut:])
        assert (before[0] + after[0], before[1] + after[1]) == whole


class Reader:
    """What one subscriber does with publications: the same few lines as web/socket/subscription.py, without I/O."""

    def __init__(self, log: list[bytes], cursor: int) -> None:
        self.log = log
        self.position = Position(Cursor(1, cursor) if cursor else START)
        self.lines = log[:cursor]

    def hear(self, first: int, last: int) -> None:
        decision = self.position.take(Header(1, first, last))
        if decision.action is Action.GAP:
            self.read_log(last)
        elif decision.action is not Action.DUPLICATE:
            self.lines += self.log[first - 1 + decision.skip : last]

    def read_log(self, last: int) -> None:
        self.lines += self.log[self.position.cursor.seq : last]
        self.position.cursor = Cursor(1, last)


@given(TEXTS, st.data())
def test_however_publications_overlap_repeat_or_are_lost_every_packet_is_taken_once(texts, data):
    log = recorded([], texts, random.Random(1))
    reader = Reader(log, cursor=data.draw(st.integers(0, len(log))))
    written = 0
    while written < len(log):
        last = data.draw(st.integers(written + 1, len(log)))
        first = data.draw(st.integers(1, written + 1))
        written = last
        match data.draw(st.sampled_from(["heard", "lost", "twice"])):
            case "heard":
                reader.hear(first, last)
            case "twice":
                reader.hear(first, last)
                reader.hear(first, last)
    reader.read_log(len(log))  # the comparison of positions after a silence
    assert reader.lines == log
