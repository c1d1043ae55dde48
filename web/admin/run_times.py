"""The timeline of a run: its states, requests, tool calls and, while their log exists, packets."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
from web.admin.timeline import Timeline

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
        title = f"{call.name}: {_(call.status)}, {call.duration_ms or '?'} ms"
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
