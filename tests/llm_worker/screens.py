"""The screen of a reader: packets by placement, deltas joined. Live and rebuilt screens must be equal."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec

from chat.log.rebuilt import rebuild_packets
from chat.log.stream import read_now, run_log
from chat.models import Run
from chat.protocol.wire import (
    MessageDelta,
    Packet,
    ReasoningDelta,
    ReportDelta,
    ToolStart,
    TopLevelBranching,
    decode_log_entry,
)

Screen = dict[tuple[Any, ...], list[Any]]
DELTAS = (MessageDelta, ReasoningDelta, ReportDelta)


def entries(run: Run) -> list[Any]:
    """The log of the run."""
    return [decode_log_entry(line) for _, line in read_now(run_log(run.turn.session_id, run.pk)).lines]


def live(run: Run) -> Screen:
    return _screen(entries(run))


def rebuilt(run: Run) -> Screen:
    run.refresh_from_db()
    run.message.refresh_from_db()
    return _screen(decode_log_entry(line) for line in rebuild_packets(run))


def _screen(packets: Iterable[Packet]) -> Screen:
    """A citation's place within a delta is part of it; where a delta was cut otherwise is not.

    Left out are packets that pass, and whether a first call was there before it was known that there are several.
    """
    places: Screen = defaultdict(list)
    for packet in packets:
        obj = packet.obj
        if obj.is_passing:
            continue
        shown = places[msgspec.structs.astuple(packet.placement)]
        if isinstance(obj, TopLevelBranching) and shown and isinstance(shown[-1], ToolStart):
            shown.insert(-1, obj)
        elif shown and isinstance(obj, DELTAS) and type(shown[-1]) is type(obj):
            shown[-1] = msgspec.structs.replace(obj, text=shown[-1].text + obj.text)
        else:
            shown.append(obj)
    return dict(places)
