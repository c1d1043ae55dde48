"""The timeline of a run: its states, requests, tool calls and, while their log exists, packets, as bars on a time axis."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from msgspec import DecodeError, Struct, json
from redis.exceptions import RedisError

from chat.log.stream import TimedLine, read_timed_now, run_log
from chat.models import Run, SentRequest, ToolCall
from web.admin.run_history import iterate_states

# In SVG user units; the page scales the drawing.
WIDTH: Final = 900
LABELS: Final = 90
# Space on the right, for the label of the last tick.
MARGIN: Final = 26
LANE: Final = 22
AXIS: Final = 20
# The minimum width of a bar.
THINNEST: Final = 2.0
TICKS: Final = 5
CHARACTER: Final = 7


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a lane. name: drawn on the bar if it fits. title: the tooltip."""

    x: float
    width: float
    title: str
    name: str = ""

    @property
    def label(self) -> str:
        return self.name if self.width > CHARACTER * len(self.name) else ""


@dataclass
class Lane:
    """A row of bars. kind: the CSS class of its bars; if empty, each bar's name is its class."""

    name: str
    y: int
    kind: str
    bars: list[Bar] = field(default_factory=list)

    @property
    def text_y(self) -> int:
        return self.y + 13


class Timeline:
    """The lanes between `since` and `until`, from top to bottom."""

    width = WIDTH
    labels = LABELS

    def __init__(self, since: datetime, until: datetime) -> None:
        self._since = since
        self.span_s = max((until - since).total_seconds(), 0.001)
        self.lanes: list[Lane] = []

    @property
    def height(self) -> int:
        return len(self.lanes) * LANE + AXIS

    @property
    def bottom(self) -> int:
        return len(self.lanes) * LANE

    @property
    def ticks(self) -> Sequence[tuple[float, str]]:
        """The ticks of the axis: x and label."""
        steps = range(TICKS + 1)
        return [
            (self._x(self.span_s * one / TICKS), _seconds(self.span_s * one / TICKS, self.span_s))
            for one in steps
        ]

    def add_lane(self, name: str, kind: str = "") -> Lane:
        lane = Lane(name, len(self.lanes) * LANE + 2, kind)
        self.lanes.append(lane)
        return lane

    def add_bar(self, lane: Lane, since: datetime, until: datetime, title: str, name: str = "") -> None:
        x = self._x(self._after(since))
        lane.bars.append(Bar(x, round(max(self._x(self._after(until)) - x, THINNEST), 1), title, name))

    def add_moments(self, lane: Lane, times: Iterable[datetime], noun: str) -> None:
        """Add a bar for every group of times that have the same x."""
        counts = Counter(round(self._x(self._after(at)) / THINNEST) for at in times)
        for place, number in sorted(counts.items()):
            lane.bars.append(Bar(place * THINNEST, THINNEST, f"{number} {noun}"))

    def _after(self, at: datetime) -> float:
        return min(max((at - self._since).total_seconds(), 0.0), self.span_s)

    def _x(self, after_s: float) -> float:
        return round(LABELS + after_s / self.span_s * (WIDTH - LABELS - MARGIN), 1)


def _seconds(after_s: float, span_s: float) -> str:
    return f"{after_s:.2f} s" if span_s < 10 else f"{after_s:.0f} s"


# A run has some thousands of packets; this is the maximum that is drawn.
MAX_PACKETS: Final = 20_000
LANES: Final = {
    "reasoning": "reasoning",
    "message": "text",
    "citation": "text",
    "tool": "tools",
    "report": "tools",
}
PACKET_LANES: Final = {
    "reasoning": (gettext_lazy("reasoning"), "tone-2"),
    "text": (gettext_lazy("text"), "tone-1"),
    "tools": (gettext_lazy("tools"), "tone-3"),
    "other": (gettext_lazy("other"), "tone-6"),
}


class _Obj(Struct):
    type: str = ""


class _Packet(Struct):
    obj: _Obj | None = None


@dataclass(frozen=True)
class RunTimes:
    """The timeline of a run. packets: how many packets of `attempt` are drawn. note: the reason if there are none."""

    timeline: Timeline
    packets: int
    attempt: int
    note: str = ""


def build_run_times(run: Run, requests: Sequence[SentRequest], calls: Iterable[ToolCall]) -> RunTimes:
    """Build the timeline. run: loaded by for_work(). requests, calls: the run's."""
    attempt, packets, note = _load_packets(run)
    end = run.announced_at or run.ended_at or timezone.now()
    timeline = Timeline(run.created_at, max([end, *(at for at, _ in packets)]))
    states = timeline.add_lane(_("state"))
    for status, since, until in iterate_states(run, timezone.now()):
        took = (until - since).total_seconds()
        title = _("%(status)s for %(seconds).3f s") % {"status": _(status), "seconds": took}
        timeline.add_bar(states, since, until, title, status)
    _draw_requests(timeline, requests)
    _draw_calls(timeline, calls)
    _draw_packets(timeline, packets)
    return RunTimes(timeline, len(packets), attempt, note)


def _draw_requests(timeline: Timeline, requests: Sequence[SentRequest]) -> None:
    lane = None
    for one in requests:
        lane = lane or timeline.add_lane(_("requests"), "tone-4")
        numbers = {"attempt": one.attempt, "cycle": one.cycle, "tokens": one.tokens}
        title = _("attempt %(attempt)d, cycle %(cycle)d: %(tokens)d tokens") % numbers
        if one.tool_call_id:
            title = _("%(what)s (inside a tool)") % {"what": title}
        timeline.add_bar(lane, one.sent_at, one.sent_at, title)


def _draw_packets(timeline: Timeline, packets: Iterable[tuple[datetime, str]]) -> None:
    by_lane: dict[str, list[datetime]] = defaultdict(list)
    for at, kind in packets:
        by_lane[LANES.get(kind.partition("_")[0], "other")].append(at)
    for name, (label, tone) in PACKET_LANES.items():
        if name in by_lane:
            timeline.add_moments(timeline.add_lane(str(label), tone), by_lane[name], _("packets"))


def _draw_calls(timeline: Timeline, calls: Iterable[ToolCall]) -> None:
    lane = None
    for call in calls:
        lane = lane or timeline.add_lane(_("tool calls"), "tone-5")
        took = timedelta(milliseconds=call.duration_ms or 0)
        title = f"{call.name}: {_(call.status)}, {'?' if call.duration_ms is None else call.duration_ms} ms"
        timeline.add_bar(lane, call.created_at, call.created_at + took, title, call.name)


def _load_packets(run: Run) -> tuple[int, list[tuple[datetime, str]], str]:
    """Return the attempt of the log, (time, type) of each packet, and a note if they are not available."""
    try:
        attempt, lines = read_timed_now(run_log(run.turn.session_id, run.pk), MAX_PACKETS)
    except RedisError:
        return 0, [], _("Redis does not answer.")
    if not lines:
        return 0, [], _("The packet log is gone: it stays for ten minutes after the end.")
    if all(one.at is None for one in lines):
        return attempt, [], _("The packets of this run carry no times.")
    return attempt, list(_with_times(lines)), ""


def _with_times(lines: Iterable[TimedLine]) -> Iterable[tuple[datetime, str]]:
    """Yield (time, type) of each packet; only the first line of an appended batch has a time."""
    at = 0
    for one in lines:
        at = one.at or at
        yield datetime.fromtimestamp(at / 1_000_000, UTC), _packet_type(one.line)


def _packet_type(line: bytes) -> str:
    try:
        packet = json.decode(line, type=_Packet)
    except DecodeError:
        return ""
    return packet.obj.type if packet.obj else ""
