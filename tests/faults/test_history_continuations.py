"""The checker lets an end be reopened where a user asked for it, and catches what is wrong about it then."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.faults.history import History, check
from tests.faults.test_history import S, T, good, packet, say

pytestmark = pytest.mark.pure

CONTINUED = {"turn": T, "run": "a", "message": "a-answer", "attempt": 3}


def snapshot(text: str, attempt: int = 3) -> dict[str, Any]:
    message = {"text": text, "reasoning": "Tides."}
    return {"type": "snapshot", "run": "a", "attempt": attempt, "seq": 0, "message": message}


def continued() -> History:
    """The first client sees run a go on after its end; the second has left by then."""
    history = good()
    watching, cut = history.clients[0].sockets[0], history.clients[1].sockets[-1]
    cut.open_at_end = False
    news = {"type": "run_continued", "session": S, "n": 3, **CONTINUED}
    later = [
        snapshot("The Moon pulls."),
        news,
        say("a", 3, 1, " Twice."),
        packet("a", 3, 2, "stop", stop_reason="finished"),
        {"type": "overall_stop", "session": S, "n": 4, "turn": T, "stop_reason": "user_cancelled"},
    ]
    watching.frames.extend((130.0 + second, frame) for second, frame in enumerate(later))
    history.database.runs[0].update(attempt=3, last_seq=2)
    history.database.messages[2]["text"] = "The Moon pulls. Twice."
    history.database.events += [
        {"session_id": S, "n": 3, "kind": "run_continued", "payload": CONTINUED},
        {"session_id": S, "n": 4, "kind": "overall_stop", "payload": {"turn": T}},
    ]
    return history


def frame(index: int, **fields: Any) -> Callable[[History], object]:
    return lambda history: history.clients[0].sockets[0].frames[index][1].update(fields)


def cut_short(history: History) -> None:
    del history.clients[0].sockets[0].frames[-5:]


def not_asked_for(history: History) -> None:
    history.database.events[2]["kind"] = "session"


def stored_otherwise(history: History) -> None:
    history.database.messages[2]["text"] = "A Moon pulls. Twice."


def reset_first(history: History) -> None:
    frames = history.clients[0].sockets[0].frames
    frames.insert(-5, (frames[-5][0], {"type": "reset", "run": "a", "attempt": 3}))


def reset_and_words_lost(history: History) -> None:
    reset_first(history)
    frame(-5, message={"text": "The Moon"})(history)


def test_an_end_that_a_user_reopened_is_no_broken_promise() -> None:
    report = check(continued())
    assert report.violations == [], report


def test_a_reset_may_come_before_the_snapshot_that_goes_on() -> None:
    history = continued()
    reset_first(history)
    assert check(history).violations == []


@pytest.mark.parametrize(
    ("invariant", "spoil"),
    [
        pytest.param("I2", not_asked_for, id="a turn is stopped again though nothing went on"),
        pytest.param("I6", not_asked_for, id="an answer goes on by itself"),
        pytest.param("I6", frame(-5, message={"text": "The Moon"}), id="words shown at the stop are gone"),
        pytest.param("I6", frame(-5, attempt=2), id="it goes on in the attempt that has ended"),
        pytest.param("I6", frame(-5, type="reset"), id="it starts over"),
        pytest.param("I6", reset_and_words_lost, id="words are gone after a reset"),
        pytest.param("I6", stored_otherwise, id="who left at the stop saw something else"),
        pytest.param("I3", cut_short, id="who stays is not shown that it goes on"),
    ],
)
def test_a_promise_broken_by_a_continuation_is_caught(
    invariant: str, spoil: Callable[[History], object]
) -> None:
    history = continued()
    spoil(history)
    assert invariant in {violation.invariant for violation in check(history).violations}
