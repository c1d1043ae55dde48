"""The checker passes a good history and catches every promise broken by hand."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.faults.history import ClientLog, Database, History, SocketLog, check, percentile

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
S, T = "session", "turn"
Timed = list[tuple[float, dict[str, Any]]]


def packet(run: str, attempt: int, seq: int, kind: str = "message_delta", **obj: Any) -> dict[str, Any]:
    return {
        "type": "packet",
        "session": S,
        "run": run,
        "attempt": attempt,
        "seq": seq,
        "obj": {"type": kind, **obj},
    }


def say(run: str, attempt: int, seq: int, text: str) -> dict[str, Any]:
    return packet(run, attempt, seq, text=text)


def started() -> dict[str, Any]:
    runs = [
        {"id": run, "message": f"{run}-answer", "model": run, "model_index": i} for i, run in enumerate("ab")
    ]
    return {"turn": T, "user_message": "question", "runs": runs}


def timed(*frames: dict[str, Any], start: float = 100.0) -> Timed:
    """A frame every second."""
    return [(start + second, frame) for second, frame in enumerate(frames)]


def watching() -> Timed:
    """Sees run a taken over by its second attempt, and run b stopped."""
    return timed(
        {"type": "subscribed", "session": S, "n": 0, "runs": []},
        {"type": "accepted", "id": "c1", **started()},
        {"type": "turn_started", "session": S, "n": 1, **started()},
        packet("a", 1, 1, "run_start", model="a"),
        packet("b", 1, 1, "run_start", model="b"),
        say("a", 1, 2, "The Sun"),
        say("b", 1, 2, "Half an "),
        {"type": "reset", "run": "a", "attempt": 2, "reason": "new_attempt"},
        packet("a", 2, 1, "reasoning_delta", text="Tides."),
        say("a", 2, 2, "The Moon "),
        say("b", 1, 3, "answer"),
        packet("b", 1, 4, "stop", stop_reason="user_cancelled"),
        say("a", 2, 3, "pulls."),
        packet("a", 2, 4, "stop", stop_reason="finished"),
        {"type": "overall_stop", "session": S, "n": 2, "turn": T, "stop_reason": "user_cancelled"},
    )


def before_the_cut() -> Timed:
    return timed(
        {"type": "subscribed", "session": S, "n": 1, "runs": []},
        say("a", 1, 1, "The Sun"),
        say("b", 1, 1, ""),
    )


def after_the_cut() -> Timed:
    """Goes on with b by its cursor, and finds a in its second attempt, opened by a snapshot."""
    return timed(
        {"type": "subscribed", "session": S, "n": 1, "runs": [{"run": "a"}, {"run": "b"}]},
        {"type": "snapshot", "run": "a", "attempt": 2, "seq": 2, "message": {"text": "The Moon ", "reasoning": "Tides."}},
        say("b", 1, 2, "Half an "),
        say("b", 1, 3, "answer"),
        packet("b", 1, 4, "stop", stop_reason="user_cancelled"),
        say("a", 2, 3, "pulls."),
        packet("a", 2, 4, "stop", stop_reason="finished"),
        {"type": "overall_stop", "session": S, "n": 2, "turn": T, "stop_reason": "user_cancelled"},
        start=110.0,
    )  # fmt: skip


def run_row(run: str, status: str, attempt: int) -> dict[str, Any]:
    return {
        "id": run, "turn_id": T, "message_id": f"{run}-answer", "model": run, "model_index": "ab".index(run),
        "status": status, "attempt": attempt, "failures": attempt - 1, "last_seq": 4,
        "deadline": NOON + timedelta(minutes=15), "ended_at": NOON, "announced_at": NOON,
    }  # fmt: skip


def message(pk: str, role: str, parent: str | None, text: str = "", **more: Any) -> dict[str, Any]:
    row = {"id": pk, "session_id": S, "role": role, "parent_id": parent, "text": text, "reasoning": ""}
    return row | {"latest_child_id": None, "client_message_id": None} | more


def database() -> Database:
    return Database(
        runs=[run_row("a", "completed", 2), run_row("b", "stopped", 1)],
        messages=[
            message("root", "root", None, latest_child_id="question"),
            message("question", "user", "root", "Why tides?", latest_child_id="a-answer", client_message_id="m1"),
            message("a-answer", "assistant", "question", "The Moon pulls.", reasoning="Tides."),
            message("b-answer", "assistant", "question", "Half an answer"),
        ],
        turns=[{"id": T, "session_id": S, "user_message_id": "question", "ended_at": NOON}],
        events=[
            {"session_id": S, "n": 1, "kind": "turn_started", "payload": started()},
            {"session_id": S, "n": 2, "kind": "overall_stop", "payload": {"turn": T}},
        ],
    )  # fmt: skip


def call(model: str, received_at: float, ended_at: float | None, ended: str | None) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Why tides?\n\n<sent_at>2026-01-01 12:00 UTC</sent_at>"}]
    body = {"model": model, "messages": messages, "stream": True}
    return {"body": body, "received_at": received_at, "ended_at": ended_at, "ended": ended}


def good() -> History:
    resumed = SocketLog(
        after_the_cut(),
        cursors={"a": {"attempt": 1, "seq": 1}, "b": {"attempt": 1, "seq": 1}}, since={S: 1}, open_at_end=True,
    )  # fmt: skip
    return History(
        clients=[
            ClientLog("watching", [SocketLog(watching(), open_at_end=True)]),
            ClientLog("cut", [SocketLog(before_the_cut()), resumed]),
        ],
        database=database(),
        upstream=[
            call("a", 1000, 1030, "disconnected"),
            call("a", 1010, 1013, "complete"),
            call("b", 1000, 1009, "disconnected"),
        ],
        accepted=[started() | {"session": S, "client_message_id": "m1"}],
        stops={"b": 110.5},
        faults=[106.0],
    )


def test_a_good_history_breaks_nothing() -> None:
    report = check(good())
    assert report.violations == [], report


def test_the_figures_say_how_long_and_how_often() -> None:
    figures = check(good()).figures
    assert figures["takeover"] == [1.0]  # the second client's cut came between two connections
    assert figures["stop"] == [0.5, 3.5]
    assert figures["longest silence"] == [10.0]  # of the second client, between its connections
    assert figures["runs"] == {"completed": 1, "stopped": 1}
    counted = ("attempts", "failures", "resets", "snapshots", "silent gaps", "upstream calls of these runs")
    assert [figures[name] for name in counted] == [3, 1, 1, 1, 0, 3]


def frames(history: History, client: int = 0, socket: int = 0) -> list[dict[str, Any]]:
    return [frame for _, frame in history.clients[client].sockets[socket].frames]


def drop(index: int, client: int = 0, socket: int = 0) -> Callable[[History], object]:
    return lambda history: history.clients[client].sockets[socket].frames.pop(index)


def again(index: int) -> Callable[[History], object]:
    def repeat(history: History) -> None:
        log = history.clients[0].sockets[0].frames
        log.insert(index + 1, log[index])

    return repeat


def add(frame: dict[str, Any]) -> Callable[[History], object]:
    return lambda history: history.clients[0].sockets[0].frames.append((200.0, frame))


def edit(index: int, **fields: Any) -> Callable[[History], object]:
    return lambda history: frames(history)[index].update(fields)


def row(table: str, index: int, **fields: Any) -> Callable[[History], object]:
    return lambda history: getattr(history.database, table)[index].update(fields)


def without(table: str, index: int) -> Callable[[History], object]:
    return lambda history: getattr(history.database, table).pop(index)


def stored_again(table: str, index: int, **fields: Any) -> Callable[[History], object]:
    def store(history: History) -> None:
        rows = getattr(history.database, table)
        rows.append(rows[index] | fields)

    return store


def called(*given: Any) -> Callable[[History], object]:
    return lambda history: history.upstream.append(call(*given))


def answered(**fields: Any) -> Callable[[History], object]:
    return lambda history: history.accepted.append(history.accepted[0] | fields)


MOON = 9  # of watching(): the packet 2-2 of run a
B_STOP = 11
LATE = NOON + timedelta(minutes=15, seconds=16)


@pytest.mark.parametrize(
    ("invariant", "spoil"),
    [
        pytest.param("I1", without("turns", 0), id="an accepted turn is not stored"),
        pytest.param("I1", without("runs", 1), id="an accepted run is not stored"),
        pytest.param("I1", answered(user_message="lost"), id="an accepted message is not stored"),
        pytest.param("I1", answered(turn="second"), id="one client_message_id starts two turns"),
        pytest.param(
            "I1", stored_again("messages", 1, id="twice"), id="one client_message_id is stored twice"
        ),
        pytest.param("I2", row("runs", 0, status="running"), id="a run never ends"),
        pytest.param("I2", row("runs", 0, announced_at=None), id="an end is never announced"),
        pytest.param("I2", row("runs", 0, ended_at=LATE), id="a run outlives its deadline"),
        pytest.param("I2", row("turns", 0, ended_at=None), id="a turn never ends"),
        pytest.param("I2", stored_again("events", 1, n=3), id="a turn ends twice"),
        pytest.param("I2", row("runs", 1, status="failed"), id="stop and row tell different ends"),
        pytest.param("I3", stored_again("runs", 0, id="c", message_id="c"), id="two answers of one model"),
        pytest.param("I3", row("runs", 0, attempt=3), id="an attempt that did not win said stop"),
        pytest.param("I3", edit(12, attempt=1), id="a packet of an attempt that is over"),
        pytest.param("I3", called("b", 1001, 1008, "complete"), id="more calls at once than attempts"),
        pytest.param("I4", edit(MOON, obj={"type": "message_delta", "text": "A Moon "}), id="another text"),
        pytest.param("I4", row("messages", 2, text="The Moon"), id="less is stored than was shown"),
        pytest.param("I4", row("messages", 2, reasoning=""), id="the reasoning shown is not stored"),
        pytest.param("I4", row("runs", 0, attempt=1, last_seq=9), id="a cut client showed something else"),
        pytest.param("I5", drop(MOON), id="a packet is missing"),
        pytest.param("I5", again(MOON), id="a packet is applied twice"),
        pytest.param("I5", drop(7), id="an attempt begins without a word"),
        pytest.param("I5", drop(13), id="the last packet is missing"),
        pytest.param("I5", drop(2, client=1, socket=1), id="a cursor is not taken up where it was"),
        pytest.param("I5", edit(14, n=3), id="news is missing"),
        pytest.param("I5", edit(14, n=1), id="news comes twice"),
        pytest.param("I6", add(say("b", 1, 5, "more")), id="a packet after stop"),
        pytest.param("I6", add({"type": "reset", "run": "b", "attempt": 2}), id="a reset after stop"),
        pytest.param("I6", again(B_STOP), id="stop comes twice"),
        pytest.param("I6", row("messages", 3, text="Half an"), id="less is saved than was shown at the stop"),
        pytest.param("I6", called("b", 1001, None, None), id="the upstream socket stays open"),
        pytest.param("I9", stored_again("messages", 0, id="root2"), id="two roots"),
        pytest.param("I9", row("messages", 1, parent_id="a-answer"), id="a cycle"),
        pytest.param("I9", row("messages", 3, parent_id="a-answer"), id="an answer to an answer"),
        pytest.param("I9", row("messages", 1, latest_child_id="root"), id="a latest child that is no reply"),
    ],
)
def test_a_broken_promise_is_caught(invariant: str, spoil: Callable[[History], object]) -> None:
    history = good()
    spoil(history)
    assert invariant in {violation.invariant for violation in check(history).violations}


@pytest.mark.parametrize(("percent", "value"), [(50, 5), (99, 10), (100, 10), (10, 1), (0, 1)])
def test_percentiles_are_values_that_were_measured(percent: float, value: float) -> None:
    assert percentile(range(10, 0, -1), percent) == value
