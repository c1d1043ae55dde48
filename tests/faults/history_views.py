"""What one client showed, frame by frame: I5 (nothing missing, nothing twice, breaks announced) and I6's
"after stop no packet". Pure; what should have been shown is history_rules.py."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from tests.faults.history_data import ClientLog, Frame, SocketLog, Violation

EVENTS = ("turn_started", "run_continued", "overall_stop", "compression", "session")


@dataclass
class View:
    """One run on one client's screen. text None: it went on from a cursor whose text nobody recorded."""

    attempt: int = 0
    seq: int = 0
    text: str | None = ""
    reasoning: str | None = ""
    stop_reason: str | None = None
    at: float = 0.0
    calls: set[str] = field(default_factory=set)  # those of which it knows
    kept: str | None = None  # shown at an end that was followed by `reset`: a snapshot must begin with it

    @property
    def is_empty(self) -> bool:
        return self.attempt == self.seq == 0


@dataclass
class Takeover:
    """A client saw a newer attempt at `at`; the frame before it came at `before`."""

    run: str
    before: float
    at: float


@dataclass
class Reopening:
    """A client had seen the end of `ended`, an attempt of the run, and then saw `attempt`."""

    run: str
    ended: int
    attempt: int


@dataclass
class Replay:
    """All that one client's frames say. views: the last state of each run; awaited: runs whose end it must show."""

    client: str
    views: dict[str, View] = field(default_factory=dict)
    cut_views: list[tuple[str, View]] = field(default_factory=list)
    awaited: set[str] = field(default_factory=set)
    stopped_turns: dict[str, str] = field(default_factory=dict)
    accepted: list[Frame] = field(default_factory=list)
    takeovers: list[Takeover] = field(default_factory=list)
    reopenings: list[Reopening] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)

    def broken(self, invariant: str, run: str, evidence: str) -> None:
        self.violations.append(Violation(invariant, {"client": self.client, "run": run}, evidence))


def replay(client: ClientLog) -> Replay:
    seen = Replay(client.name)
    for log in client.sockets:
        _Connection(seen, log).play()
    return seen


class _Connection:
    """One socket's frames applied to what the client showed before."""

    def __init__(self, seen: Replay, log: SocketLog) -> None:
        self.seen = seen
        self.log = log
        self.here: dict[str, View] = {}
        self.n: dict[str, int] = dict(log.since)
        self.subscribed: dict[str, bool] = {}

    def play(self) -> None:
        for at, frame in self.log.frames:
            kind = frame["type"]
            self.seen.counts[kind] = self.seen.counts.get(kind, 0) + 1
            if kind == "packet":
                self._packet(at, frame)
            elif kind in ("reset", "snapshot"):
                self._restart(at, frame)
            elif kind in ("subscribed", "resync"):
                self._position(frame)
            elif kind == "accepted":
                self.seen.accepted.append(frame)
            elif kind in EVENTS and "n" in frame:
                self._event(frame)
        self.seen.cut_views += [
            (run, replace(view)) for run, view in self.here.items() if not view.stop_reason
        ]
        if self.log.open_at_end:
            self.seen.awaited |= self.here.keys() | self.subscribed.keys()

    def _view(self, run: str) -> View:
        """What this run shows when its first frame comes: continued from the cursor, or nothing."""
        if run not in self.here:
            self.here[run] = self.seen.views[run] = self._joined(run)
        return self.here[run]

    def _joined(self, run: str) -> View:
        cursor = self.log.cursors.get(run)
        if cursor is None:
            return View()
        held = self.seen.views.get(run)
        if held and (held.attempt, held.seq) == (cursor["attempt"], cursor["seq"]):
            return replace(held)
        is_start = cursor["seq"] == 0
        return View(cursor["attempt"], cursor["seq"], "" if is_start else None, "" if is_start else None)

    def _packet(self, at: float, frame: Frame) -> None:
        run, attempt, seq = frame["run"], frame["attempt"], frame["seq"]
        view = self._view(run)
        if view.stop_reason:
            self.seen.broken("I6", run, f"packet {attempt}-{seq} after stop {view.attempt}-{view.seq}")
        elif view.kept is not None:
            self.seen.broken("I6", run, f"attempt {attempt} starts over after an end")
        elif (problem := _break(view, attempt, seq)) is not None:
            invariant, evidence = problem
            self.seen.broken(invariant, run, evidence)
            view.text = view.reasoning = None  # unknown from here on: one break is told once
        view.attempt, view.seq, view.at, view.kept = attempt, seq, at, None
        if view.text is not None and _is_of_unknown_call(view, frame["obj"]):
            self.seen.broken("I5", run, f"packet {attempt}-{seq} is of a call that it was never told of")
        if frame.get("placement", {}).get("sub_turn_index") is None:
            _show(view, frame["obj"])

    def _restart(self, at: float, frame: Frame) -> None:
        """A reset or a snapshot: what was shown is replaced."""
        run, attempt = frame["run"], frame["attempt"]
        view = self._view(run)
        was_here = view.at >= self.log.frames[0][0]  # and not on an earlier connection
        # On a later connection a client may name an ended run again, and is then told its end again.
        kept = view.kept
        if view.stop_reason and (was_here or attempt > view.attempt):
            kept = self._reopen(view, frame)
        if attempt < view.attempt or (frame["type"] == "reset" and attempt == view.attempt):
            self.seen.broken("I3", run, f"{frame['type']} to attempt {attempt} while showing {view.attempt}")
        if attempt > view.attempt > 0 and was_here:
            self.seen.takeovers.append(Takeover(run, view.at, at))
        message = frame.get("message") or {}
        text = message.get("text") or ""
        if frame["type"] == "snapshot" and kept is not None:
            if not text.startswith(kept):
                self.seen.broken("I6", run, f"attempt {attempt} goes on without all of {kept[-40:]!r}")
            kept = None
        self.here[run] = self.seen.views[run] = View(
            attempt, frame.get("seq", 0), text, message.get("reasoning") or "", at=at,
            calls={call["tool_call_id"] for call in _calls(message.get("tool_calls", ()))}, kept=kept,
        )  # fmt: skip

    def _reopen(self, view: View, frame: Frame) -> str | None:
        """After an end a newer attempt may begin, if a user asked for it (history_rules.py); returns what it must keep.

        A `reset` may come before its snapshot, as before every snapshot that does not open an attempt.
        """
        run, attempt = frame["run"], frame["attempt"]
        self.seen.reopenings.append(Reopening(run, view.attempt, attempt))
        if attempt <= view.attempt:
            self.seen.broken("I6", run, f"{frame['type']} of attempt {attempt} after stop")
            return None
        return view.text

    def _position(self, frame: Frame) -> None:
        session = frame["session"]
        if frame["type"] == "resync" or session not in self.n:
            self.n[session] = frame["n"]
        for run in frame.get("runs", ()):
            self.subscribed[run["run"]] = True

    def _event(self, frame: Frame) -> None:
        session, n, ids = frame.get("session", ""), frame["n"], {"client": self.seen.client}
        held = self.n.get(session)
        if held is not None and n != held + 1:
            what = "is missing news" if n > held else "heard news twice"
            self.seen.violations.append(
                Violation("I5", ids | {"session": session}, f"{what}: n {n} after {held}")
            )
        self.n[session] = n
        if frame["type"] == "turn_started":
            self.subscribed |= {run["id"]: True for run in frame["runs"]}
        elif frame["type"] == "run_continued":
            self.subscribed[frame["run"]] = True
            self.seen.stopped_turns.pop(frame["turn"], None)
        elif frame["type"] == "overall_stop":
            turn = frame["turn"]
            if self.seen.stopped_turns.setdefault(turn, frame["stop_reason"]) != frame["stop_reason"]:
                self.seen.violations.append(Violation("I2", ids | {"turn": turn}, "ended twice, in two ways"))


def _break(view: View, attempt: int, seq: int) -> tuple[str, str] | None:
    """The promise this packet breaks, if any."""
    if attempt < view.attempt:
        return "I3", f"packet {attempt}-{seq} of a finished attempt while showing {view.attempt}"
    if attempt > view.attempt and not view.is_empty:
        return (
            "I5",
            f"attempt {attempt} began at {seq} without reset or snapshot, after {view.attempt}-{view.seq}",
        )
    if seq <= view.seq:
        return "I5", f"packet {attempt}-{seq} applied twice, after {view.seq}"
    if seq > view.seq + 1:
        return "I5", f"silent gap: packet {attempt}-{seq} after {view.seq}"
    return None


def _is_of_unknown_call(view: View, obj: Frame) -> bool:
    if obj["type"] == "tool_start":
        view.calls.add(obj["tool_call_id"])
    return obj.get("tool_call_id", "") not in {"", *view.calls}


def _calls(calls: Iterable[Frame]) -> Iterator[Frame]:
    """With those inside agents' calls."""
    for call in calls:
        yield call
        yield from _calls(call.get("children", ()))


def _show(view: View, obj: Frame) -> None:
    match obj["type"]:
        case "message_delta":
            view.text = None if view.text is None else view.text + obj["text"]
        case "reasoning_delta":
            view.reasoning = None if view.reasoning is None else view.reasoning + obj["text"]
        case "tool_start":
            view.reasoning = None if view.reasoning is None else ""  # it went with the round
        case "stop":
            view.stop_reason = obj["stop_reason"]
