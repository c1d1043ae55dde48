"""What the rows, the texts and the upstream's log must say: I1-I4 and I6. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from chat.protocol.states import TERMINAL
from tests.faults.history_continuations import (
    beginning_kept,
    is_continued,
    reopened_unasked,
    turn_events_problem,
)
from tests.faults.history_data import Frame, History, Row, Violation
from tests.faults.history_tree import broken_trees
from tests.faults.history_views import Replay, View
from tests.upstream_steps import last_user_text

# After a run's deadline it may take the sweeper this long to end it.
END_AFTER_DEADLINE = timedelta(seconds=15)
# Two calls of one attempt may seem to overlap: the first one's end is noticed late.
OVERLAP_S = 1.0
STOP_REASONS = {"completed": "finished", "stopped": "user_cancelled", "failed": "error"}


def broken_by_rows(history: History) -> list[Violation]:
    return [
        *_accepted(history),
        *_ends(history),
        *_turn_ends(history),
        *_one_answer(history),
        *broken_trees(history.database.messages),
    ]


def broken_by_texts(history: History, replays: Iterable[Replay]) -> list[Violation]:
    """I2-I6 where what a client showed meets what is stored."""
    runs = _by_id(history.database.runs)
    messages = _by_id(history.database.messages)
    found = []
    for seen in replays:
        found += reopened_unasked(history, seen)
        for run, view in [*seen.views.items(), *seen.cut_views]:
            if run in runs:
                message = messages.get(runs[run]["message_id"], {})
                if view.stop_reason and run not in seen.awaited and is_continued(history, run, view.attempt):
                    found += beginning_kept(seen.client, run, view, message.get("text", ""))
                else:
                    found += _shown(seen.client, view, runs[run], message)
        for run in sorted(seen.awaited & runs.keys()):
            if run not in seen.views or seen.views[run].stop_reason is None:
                shown = seen.views.get(run, View())
                found.append(
                    Violation(
                        "I5",
                        {"client": seen.client, "run": run},
                        f"never saw the end; last {shown.attempt}-{shown.seq}",
                    )
                )
    return found


def broken_by_upstream(history: History) -> list[Violation]:
    """I3: no more calls at once than attempts. I6: nothing goes on reading for a run that has ended."""
    found = []
    for runs, calls in calls_by_question(history):
        ids = {"run": ",".join(run["id"] for run in runs)}
        if all(run["status"] in TERMINAL for run in runs):
            still_open = sum(1 for call in calls if call["ended"] is None)
            if still_open:
                found.append(Violation("I6", ids, f"{still_open} upstream connections are still open"))
        at_once, allowed = _most_at_once(calls), sum(run["attempt"] for run in runs)
        if at_once > allowed:
            found.append(Violation("I3", ids, f"{at_once} upstream calls at once in {allowed} attempts"))
    return found


def calls_by_question(history: History) -> Iterator[tuple[list[Row], list[Frame]]]:
    """Runs of the same question to the same model, and the upstream calls made for them."""
    texts = {row["id"]: row["text"] for row in history.database.messages}
    questions = {row["id"]: texts.get(row["user_message_id"]) for row in history.database.turns}
    runs: dict[tuple[Any, Any], list[Row]] = defaultdict(list)
    for run in history.database.runs:
        runs[run["model"], questions.get(run["turn_id"])].append(run)
    calls: dict[tuple[Any, Any], list[Frame]] = defaultdict(list)
    for received in history.upstream:
        call = received if isinstance(received, dict) else vars(received)
        if call["body"].get("stream"):
            text = last_user_text(call["body"]).split("\n\n<sent_at>")[0]
            calls[call["body"].get("model"), text].append(call)
    for key, asked in calls.items():
        if key in runs:
            yield runs[key], asked


def _accepted(history: History) -> Iterator[Violation]:
    """I1, of what REST answered; the socket's `accepted` frames have the same shape."""
    turns, runs = _by_id(history.database.turns), _by_id(history.database.runs)
    messages = _by_id(history.database.messages)
    told = [*history.accepted, *_accepted_frames(history)]
    for answer in told:
        ids = {"turn": answer["turn"]}
        turn = turns.get(answer["turn"])
        if turn is None:
            yield Violation("I1", ids, "accepted, but the turn is not stored")
        elif turn["user_message_id"] != answer["user_message"]:
            yield Violation("I1", ids, f"stored for another message than {answer['user_message']}")
        if messages.get(answer["user_message"], {}).get("role") != "user":
            yield Violation("I1", ids, f"user message {answer['user_message']} is not stored")
        for run in answer["runs"]:
            if runs.get(run["id"], {}).get("turn_id") != answer["turn"]:
                yield Violation("I1", ids | {"run": run["id"]}, "accepted, but the run is not stored")
    yield from _repeats(history, told)


def _accepted_frames(history: History) -> Iterator[Frame]:
    for client in history.clients:
        for socket in client.sockets:
            yield from (
                frame for _, frame in socket.frames if frame["type"] == "accepted" and "turn" in frame
            )


def _repeats(history: History, told: Iterable[Frame]) -> Iterator[Violation]:
    """One client_message_id, one turn and one message."""
    turns: dict[Any, set[str]] = defaultdict(set)
    for answer in told:
        if answer.get("client_message_id"):
            turns[answer.get("session"), answer["client_message_id"]].add(answer["turn"])
    for (session, name), started in turns.items():
        if len(started) > 1:
            yield Violation("I1", {"client_message_id": name}, f"started {len(started)} turns in {session}")
    rows = Counter((row["session_id"], row.get("client_message_id")) for row in history.database.messages)
    for (session, name), count in rows.items():
        if name and count > 1:
            yield Violation("I1", {"client_message_id": name}, f"stored {count} times in session {session}")


def _ends(history: History) -> Iterator[Violation]:
    """I2, of runs."""
    for run in history.database.runs:
        ids = {"run": run["id"]}
        if run["status"] not in TERMINAL:
            yield Violation("I2", ids, f"never ended: {run['status']}, attempt {run['attempt']}")
            continue
        if run["announced_at"] is None:
            yield Violation("I2", ids, "ended, but never announced")
        if run["ended_at"] is None or run["last_seq"] is None:
            yield Violation("I2", ids, f"{run['status']} without its end")
        elif run["ended_at"] > run["deadline"] + END_AFTER_DEADLINE:
            yield Violation("I2", ids, f"ended {run['ended_at'] - run['deadline']} after its deadline")


def _turn_ends(history: History) -> Iterator[Violation]:
    """I2, of turns: each is started once and stopped once, and once more after it went on; news has no holes."""
    for turn in history.database.turns:
        ids = {"turn": turn["id"]}
        if turn["ended_at"] is None:
            yield Violation("I2", ids, "never ended")
        if (problem := turn_events_problem(history, turn["id"])) is not None:
            yield Violation("I2", ids, problem)
    numbers: dict[str, list[int]] = defaultdict(list)
    for row in history.database.events:
        numbers[row["session_id"]].append(row["n"])
    for session, held in numbers.items():
        if sorted(held) != list(range(1, len(held) + 1)):
            yield Violation("I5", {"session": session}, f"events are not numbered 1 to {len(held)}")


def _one_answer(history: History) -> Iterator[Violation]:
    """I3: one answer per (turn, model), one run per answer."""
    for what, fields in (("answers", ("turn_id", "model_index")), ("runs", ("message_id",))):
        rows = Counter(tuple(str(run[name]) for name in fields) for run in history.database.runs)
        for key, count in rows.items():
            if count > 1:
                yield Violation("I3", dict(zip(fields, key, strict=True)), f"has {count} {what}")


def _shown(client: str, view: View, run: Row, message: Row) -> Iterator[Violation]:
    ids = {"client": client, "run": run["id"]}
    if view.attempt > run["attempt"]:
        yield Violation("I3", ids, f"showed attempt {view.attempt} of {run['attempt']}")
    elif view.stop_reason is not None and view.attempt != run["attempt"]:
        yield Violation("I3", ids, f"attempt {view.attempt} said stop, but attempt {run['attempt']} ended it")
    elif view.stop_reason is not None:
        yield from _shown_to_the_end(ids, view, run, message)
    elif view.attempt == run["attempt"] and run["status"] in TERMINAL and view.text is not None:
        # Cut off before the end: what the winning attempt showed must be how the stored text begins.
        text = message.get("text", "")
        if not text.startswith(view.text):
            yield Violation("I4", ids, f"showed {_tail(view.text)}, which is not how {_tail(text)} begins")


def _shown_to_the_end(ids: dict[str, str], view: View, run: Row, message: Row) -> Iterator[Violation]:
    # What a reader stopped at is what must be there afterwards: I6; otherwise the same is I4.
    promise, text = "I6" if run["status"] == "stopped" else "I4", message.get("text", "")
    if view.stop_reason != STOP_REASONS.get(run["status"]):
        yield Violation("I2", ids, f"stop said {view.stop_reason}, the row says {run['status']}")
    if view.text is not None and view.text != text:
        yield Violation(promise, ids, f"shown {_tail(view.text)}, stored {_tail(text)}")
    if view.reasoning is not None and view.reasoning != message.get("reasoning", ""):
        yield Violation(promise, ids, "the reasoning shown is not the one stored")
    if view.seq != run["last_seq"]:
        yield Violation("I5", ids, f"stop was packet {view.seq}, the row says {run['last_seq']}")


def _most_at_once(calls: list[Frame]) -> int:
    """The largest number of calls open at one moment. A call still open counts for ever."""
    moments = []
    for call in calls:
        ended = call["ended_at"] - OVERLAP_S if call["ended_at"] else float("inf")
        if ended > call["received_at"]:
            moments += [(call["received_at"], 1), (ended, -1)]
    most = running = 0
    for _, change in sorted(moments):
        running += change
        most = max(most, running)
    return most


def _by_id(rows: list[Row]) -> dict[str, Row]:
    return {row["id"]: row for row in rows}


def _tail(text: str) -> str:
    return repr(text) if len(text) < 80 else f"{len(text)} characters ending {text[-40:]!r}"
