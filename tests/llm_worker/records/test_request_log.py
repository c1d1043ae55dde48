"""Requests of a run are stored, read back whole, and compared across turns."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.utils import timezone

from chat.infrastructure import prefix_cache
from chat.infrastructure.prefix_cache import PrefixKey
from chat.infrastructure.redis_client import sync_redis
from chat.models import Run, SentRequest, ToolCall
from llm_worker.records import request_log
from llm_worker.records.request_log import AttemptRequests, RequestLog, RequestRecorder, save_sent_requests
from llm_worker.request.model_message import LanguageModelInput, Message, to_api_messages

pytestmark = pytest.mark.django_db(transaction=True)

Ask = Callable[..., list[Run]]


def request(*texts: str) -> LanguageModelInput:
    return [Message("S", "Be brief.", tokens=10), *(Message("U", text, tokens=10) for text in texts)]


def save(run: Run, *requests: LanguageModelInput, **fields: Any) -> RequestRecorder:
    recorder = RequestRecorder()
    for messages in requests:
        recorder.record(messages, timezone.now(), **fields)
    run.attempt = run.attempt or 1
    save_sent_requests([AttemptRequests(run, recorder.take())])
    return recorder


def kept(run: Run) -> list[SentRequest]:
    return list(SentRequest.objects.filter(run=run))


def contents(sent: SentRequest) -> list[str]:
    return [message["content"] for message in sent.whole()]


def test_each_cycle_is_read_back_as_it_was_sent(ask: Ask) -> None:
    [run] = ask()
    cycles = [request("Why?"), request("Why?", "T1"), request("Why?", "T1", "T2"), request("Why?", "shorter")]
    save(run, *cycles)
    rows = kept(run)
    assert [row.whole() for row in rows] == [to_api_messages(messages) for messages in cycles]
    assert [len(row.messages) for row in rows] == [2, 1, 1, 1]
    assert [row.tokens for row in rows] == [20, 30, 40, 30]


def test_attempts_and_agent_tools_are_numbered_separately(ask: Ask) -> None:
    [run] = ask()
    tool = ToolCall.objects.create(
        run=run, message=run.message, turn_number=0, tool_call_id="c", name="research_agent"
    )
    save(run, request("one"), request("one", "two"))
    save(run, request("inner"), request("inner", "more"), tool_call=tool.pk)
    run.attempt = 2
    save(run, request("again"), request("again", "and again"))
    assert [contents(row)[1:] for row in kept(run)] == [
        ["one"], ["one", "two"], ["inner"], ["inner", "more"], ["again"], ["again", "and again"]
    ]  # fmt: skip


def test_saving_is_idempotent(ask: Ask) -> None:
    [run] = ask()
    for _ in range(2):
        save(run, request("Why?"))
    assert len(kept(run)) == 1


def test_requests_of_a_deleted_tool_call_are_dropped(ask: Ask) -> None:
    [run] = ask()
    save(run, request("inner"), tool_call=run.pk)
    assert kept(run) == []


def test_requests_of_a_deleted_run_are_dropped(ask: Ask) -> None:
    [run] = ask()
    session = run.turn.session
    Run.objects.filter(pk=run.pk).delete()
    save(run, request("Why?"))
    assert not SentRequest.objects.exists()
    assert prefix_cache.read_digests([PrefixKey(str(session.pk), run.model)]) == {}


def test_the_prefix_share_spans_turns_of_a_session_and_a_model(ask: Ask) -> None:
    first, other = ask("One?", "alpha", "beta")
    save(first, request("One?"), request("One?", "T1"))
    [second, alone] = ask("Two?", "alpha", "gamma", session=first.turn.session)
    save(second, request("One?", "A1", "Two?"))
    save(alone, request("One?", "A1", "Two?"))
    save(other, request("One?"))
    assert [row.prefix_share for row in kept(first)] == pytest.approx([0, 2 / 3])
    assert [row.prefix_share for row in kept(second)] == pytest.approx([2 / 4])
    assert [row.prefix_share for row in kept(alone) + kept(other)] == [0, 0]


def test_the_prefix_share_of_each_request_is_logged(ask: Ask, caplog: Any) -> None:
    [run] = ask()
    with caplog.at_level(logging.INFO, "llm_worker.records.request_log"):
        save(run, request("One?"), request("One?", "T1"))
    assert [
        record.getMessage() for record in caplog.records if record.name == "llm_worker.records.request_log"
    ] == [
        f"run {run.pk} cycle 1: 20 tokens, prefix share 0.000",
        f"run {run.pk} cycle 2: 30 tokens, prefix share 0.667",
    ]


def test_nothing_is_stored_if_disabled(ask: Ask, settings: Any) -> None:
    settings.KEEP_REQUESTS_HOURS = 0
    [run] = ask()
    save(run, request("One?"))
    assert kept(run) == []
    assert not list(sync_redis().scan_iter(f"turnwire:{{{run.turn.session_id}}}:*"))


def test_requests_are_deleted_with_their_session(ask: Ask) -> None:
    [run] = ask()
    save(run, request("One?"))
    key = prefix_cache.redis_key(run.turn.session_id)
    assert 0 < sync_redis().ttl(key) <= prefix_cache.TTL_S
    run.turn.session.delete()
    assert not SentRequest.objects.exists()


@pytest.mark.parametrize(("hours", "left"), [(24, 0), (26, 2)])
def test_old_requests_are_purged_run_by_run(ask: Ask, hours: int, left: int) -> None:
    [run] = ask()
    save(run, request("One?"), request("One?", "T1"))
    first, _ = kept(run)
    SentRequest.objects.filter(pk=first.pk).update(sent_at=timezone.now() - timedelta(hours=25))
    SentRequest.objects.purge(timedelta(hours=hours), runs=10)
    assert len(kept(run)) == left


async def test_long_requests_are_written_in_several_statements_and_a_failed_one_loses_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[list[AttemptRequests]] = []

    class FailingOnce:
        async def call(self, _save: Any, batch: list[AttemptRequests]) -> None:
            written.append(batch)
            if len(written) == 1:
                raise DatabaseError("gone")

    monkeypatch.setattr(request_log, "BATCH_TOKENS", 50)
    log = RequestLog(FailingOnce())  # type: ignore[arg-type]
    for count in (1, 1, 5, 1):
        recorder = RequestRecorder()
        recorder.record(request(*"tides"[:count]), timezone.now())
        log.keep(Run(), recorder.take())
    await log.write()
    assert [[one.tokens for one in batch] for batch in written] == [[20, 20], [60], [20]]
