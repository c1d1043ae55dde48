"""Assertions on the end of a run, in the database and in the log alike."""

from concurrent.futures import Future

from chat.log.progress import fold as fold_entries
from chat.log.stream import read_now, run_log
from chat.models import Run, SessionEvent
from chat.protocol.states import Status
from chat.protocol.wire import Packet, decode_log_entry
from chat.transcript.packets import Shown, fold
from tests.upstream import Upstream


def shown(run: Run) -> Shown:
    """What a client saw, from the log; checks that it is contiguous and ends with the one `stop`."""
    entries = [decode_log_entry(line) for _, line in read_now(run_log(run.turn.session_id, run.pk)).lines]
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    kinds = [
        entry.obj.__struct_config__.tag if isinstance(entry, Packet) else "snapshot" for entry in entries
    ]
    assert kinds[0] == "run_start"
    assert kinds.index("stop") == len(kinds) - 1 == run.last_seq - 1
    return fold_entries(entries)


def ended(run: Run, status: Status, *, text: str | None = None, code: str = "") -> Shown:
    """The run has ended this way, in the database as on the screen."""
    run.refresh_from_db()
    run.message.refresh_from_db()
    assert (run.status, run.error_code) == (status, code)
    assert run.announced_at
    seen = shown(run)
    assert (seen.text, seen.reasoning) == (run.message.text, run.message.reasoning)
    assert (seen.error.code if seen.error else "") == code
    if text is not None:
        assert run.message.text == text
    return seen


def overall_stops(run: Run) -> list[str]:
    events = SessionEvent.objects.filter(session=run.turn.session_id, kind="overall_stop").order_by("n")
    return [event.payload["stop_reason"] for event in events]


def wait_for_text(upstream: Upstream, run: Run, length: int = 1) -> None:
    def has_text() -> bool:
        lines = read_now(run_log(run.turn.session_id, run.pk)).lines
        entries = [decode_log_entry(line) for _, line in lines]
        return len(fold((entry.placement, entry.obj) for entry in entries).text) >= length

    upstream.wait_for(has_text)


def stopped(upstream: Upstream, future: Future[bool], run: Run) -> Shown:
    assert future.result(60) is True
    seen = ended(run, Status.STOPPED)
    assert seen.stop_reason == "user_cancelled"
    upstream.wait_for(lambda: all(request.ended for request in upstream.requests))
    return seen
