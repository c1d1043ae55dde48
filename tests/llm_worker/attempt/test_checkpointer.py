"""Checkpoints: Postgres is at most 2 s behind the stream, fenced by the attempt, and holds enough to resume from."""

from datetime import timedelta

from django.db.models.functions import Now

from chat.infrastructure.redis_client import sync_redis
from chat.log.cursor import Cursor
from chat.log.progress import read_progress
from chat.log.stream import read_now, run_log
from chat.models import ModelConfig, Run
from chat.protocol.states import Status
from chat.protocol.wire import Packet, Snapshot, decode_log_entry
from chat.transcript.packets import fold
from llm_worker.attempt.fenced_writes import Checkpoint, save_checkpoints
from tests.llm_worker.outcomes import ended, overall_stops, wait_for_text


def saved(run: Run) -> str:
    """The text first: what the run says of it is then not older."""
    run.message.refresh_from_db()
    text = run.message.text
    run.refresh_from_db()
    return text


def test_streamed_text_is_checkpointed_with_its_position(deliver, ask, upstream):
    upstream.reply({"reasoning": "Hm."}, {"text": "First, "}, {"wait": "the look"}, {"text": "then."})
    [run] = ask()
    future = deliver(run)
    upstream.wait_for(lambda: saved(run) == "First, ")
    assert run.message.reasoning == "Hm."
    entries = [decode_log_entry(line) for _, line in read_now(run_log(run.turn.session_id, run.pk)).lines]
    assert (
        fold((entry.placement, entry.obj) for entry in entries if entry.seq <= run.saved_seq).text
        == "First, "
    )
    sync_redis().flushdb()
    progress = read_progress(Run.objects.for_work().get(pk=run.pk), calls=[])
    assert (progress.shown.text, progress.cursor) == ("First, ", Cursor(1, run.saved_seq))
    upstream.release("the look")
    assert future.result(60) is True
    ended(run, Status.COMPLETED, text="First, then.")


def test_a_checkpoint_of_an_older_attempt_or_another_owner_is_rejected(ask):
    [run] = ask()
    run = Run.objects.claim(run.pk, owner=7)
    held = Checkpoint(run, 3, "mine", "", 1)
    assert save_checkpoints(7, [held]) == {run.pk}
    assert save_checkpoints(9, [Checkpoint(run, 4, "another's", "", 1)]) == set()
    Run.objects.filter(pk=run.pk).update(lease_until=Now() - timedelta(seconds=1))
    # The same worker has taken its run again, whose lease it had let expire.
    again = Run.objects.claim(run.pk, owner=7)
    assert again.attempt == run.attempt + 1
    assert save_checkpoints(7, [Checkpoint(run, 5, "of the older attempt", "", 1)]) == set()
    assert saved(run) == "mine"
    assert save_checkpoints(7, [Checkpoint(again, 1, "of the newer one", "", 1)]) == {run.pk}
    assert saved(run) == "of the newer one"


def test_with_prefill_the_next_attempt_continues_from_the_checkpoint(deliver, ask, upstream):
    ModelConfig.objects.create(name="scripted", base_url=upstream.base_url, supports_prefill=True)
    upstream.reply({"reasoning": "Hm."}, {"text": "Half, "}, {"hang": True}, times=1)
    upstream.reply({"text": "whole."})
    [run] = ask()
    lost = deliver(run)
    upstream.wait_for(lambda: saved(run) == "Half, ")
    Run.objects.filter(pk=run.pk).update(status=Status.QUEUED, owner=None, lease_until=None)
    assert lost.result(60) is True
    assert deliver(run).result(60) is True
    run.refresh_from_db()
    assert (run.status, run.attempt, saved(run), run.message.reasoning) == (
        Status.COMPLETED, 2, "Half, whole.", "Hm.",
    )  # fmt: skip
    assert upstream.requests[1].messages[-1] == {"role": "assistant", "content": "Half, "}
    opening, *packets = [
        decode_log_entry(line) for _, line in read_now(run_log(run.turn.session_id, run.pk)).lines
    ]
    assert isinstance(opening, Snapshot)
    assert (opening.seq, opening.message["text"], opening.message["reasoning"]) == (0, "Half, ", "Hm.")
    assert all(isinstance(packet, Packet) for packet in packets)
    assert [packet.seq for packet in packets] == list(range(1, run.last_seq + 1))
    assert fold((packet.placement, packet.obj) for packet in packets).text == "whole."
    assert overall_stops(run) == ["finished"]


def test_without_prefill_the_next_attempt_starts_over(deliver, ask, upstream):
    upstream.reply({"text": "Half, "}, {"hang": True}, times=1)
    upstream.reply({"text": "All of it."})
    [run] = ask()
    lost = deliver(run)
    wait_for_text(upstream, run)
    Run.objects.filter(pk=run.pk).update(status=Status.QUEUED, owner=None, lease_until=None)
    assert lost.result(60) is True
    assert deliver(run).result(60) is True
    ended(run, Status.COMPLETED, text="All of it.")
