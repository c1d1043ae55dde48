"""How streams and awaited answers end, whatever their run's log shows before."""

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError
from django.utils import timezone
from msgspec import json
from psycopg_pool import PoolTimeout
from redis.exceptions import RedisError

from chat.models import Run, Session
from chat.models.outcome import RunOutcome
from chat.protocol import wire as p
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from chat.runs.completion import commit_end
from chat.sessions.deletion import delete_for_good
from features.openai import responses, sse
from features.openai.authentication import Caller
from features.openai.chat import await_chat, stream_chat
from features.openai.chat_body import OpenAIChatBody
from features.openai.response_parts import ResponsePart
from features.openai.response_stream import EncodedEvent
from tests import factories
from tests.features.openai.test_models import by_token
from tests.features.openai.test_responses import post
from tests.features.openai.test_waiting_requests import until
from web.rest.request_slots import Slot
from web.socket.authentication import HandshakeCredentials

pytestmark = pytest.mark.django_db(transaction=True)
BODY = OpenAIChatBody(model="quick", messages=[{"role": "user", "content": "Why?"}])
# A text of one attempt, and what another one writes.
SHOWN = ["Two bulges of the sea. ", "The Moon pulls."]


@pytest.fixture
def run(alice: Any) -> Run:
    """A run that waits for a worker."""
    post(by_token(alice))
    return Run.objects.for_work().get()


def reader(user: Any) -> sse.Reader:
    return sse.Reader(user, HandshakeCredentials("none"), Slot(None, user.pk))


async def lines_of_chat(user: Any, run: Run) -> list[Any]:
    """Read a stream to its end, with which the request finishes."""
    response = stream_chat(reader(user), run, BODY)
    lines = [line async for line in response]
    assert response.on_request_finished
    response.on_request_finished()
    return lines


def logging(
    monkeypatch: pytest.MonkeyPatch,
    run: Run,
    on_end: Callable[[], Any] | None = None,
    *,
    texts: Sequence[str] = SHOWN,
    stops: bool = True,
) -> None:
    """Let the log have the texts, each of an attempt, and then `stop`; call on_end before that."""

    async def read(*_: Any) -> AsyncGenerator[p.Packet | p.Snapshot | p.Reset | None, None]:
        for attempt, text in enumerate(texts, start=1):
            for seq, obj in enumerate([p.MessageStart(), p.MessageDelta(text)], start=1):
                yield p.Packet("session", str(run.pk), attempt, seq, p.Placement(0), obj)
        if on_end:
            await sync_to_async(on_end)()
        if stops:
            yield p.Packet("session", str(run.pk), len(texts), 3, p.Placement(1), p.Stop("finished"))

    monkeypatch.setattr(sse, "read_log", read)


async def test_who_waits_gets_the_stored_answer_whichever_attempts_wrote_it(
    alice: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    logging(monkeypatch, run, lambda: factories.finish_run(str(run.pk), SHOWN[1]))
    response = json.decode((await sse.await_response(reader(alice), ResponsePart(run))).content)
    assert response["status"] == "completed"
    assert response["output"][0]["content"][0]["text"] == SHOWN[1]
    logging(monkeypatch, run)
    answer = json.decode((await await_chat(reader(alice), run, BODY).make()).content)
    assert answer["choices"][0]["message"]["content"] == SHOWN[1]


def test_what_is_not_stored_is_answered_from_the_moment_in_which_it_asks_until_it_has_ended(
    alice: Any, run: Run
) -> None:
    """Its client may read that it asks before its worker has noted that the run waits."""
    Session.objects.update(temporary_until=timezone.now() + timedelta(minutes=10))
    answerable = Caller(alice).answerable_runs().filter(pk=run.pk)
    assert answerable.exists()
    assert Run.objects.claim(str(run.pk), owner=1)
    assert answerable.get().status == Status.RUNNING
    Run.objects.update(status=Status.STOPPING)
    assert not answerable.exists()
    Run.objects.update(status=Status.RUNNING)
    assert commit_end(run.pk, 1, RunOutcome(Status.COMPLETED, last_seq=3, text="So."))
    assert not answerable.exists()


async def test_an_answer_that_is_deleted_before_it_is_read_is_not_found(
    alice: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    logging(monkeypatch, run, lambda: delete_for_good(Session.objects.get()), texts=SHOWN[:1])
    streamed = sse.stream_events(reader(alice), ResponsePart(run), -1)
    assert b'"code":"not_found"' in [line async for line in streamed][-1]
    logging(monkeypatch, run)
    with pytest.raises(ApiError, match="not_found"):
        await sse.await_response(reader(alice), ResponsePart(run))


async def test_an_ended_answer_is_replayed_in_blocks_from_the_number(
    alice: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "tide " * 1000
    ended = await sync_to_async(factories.finish_run)(str(run.pk), text)
    ended = await sync_to_async(Run.objects.for_work().get)(pk=ended.pk)
    monkeypatch.setattr(sse, "BLOCK_BYTES", 2000)
    produced: list[int] = []

    def replay(part: ResponsePart) -> Iterator[EncodedEvent]:
        for event in responses.replay(part):
            produced.append(event.number)
            yield event

    monkeypatch.setattr(sse, "replay", replay)
    events = sse.read_events(reader(alice), ResponsePart(ended), 499)
    first = await anext(events)
    assert first is not None
    assert first.number == 500
    assert len(produced) < 520
    rest = [event async for event in events]
    assert [event and event.number for event in rest] == list(range(501, len(produced)))
    assert rest[-1] is not None
    assert rest[-1].type == "response.completed"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (None, "stream_unavailable"),
        (RedisError("Redis is away"), "stream_unavailable"),
        (OperationalError("The database is away"), "unavailable"),
        (PoolTimeout("The database is busy"), "unavailable"),
    ],
)
async def test_a_stream_that_breaks_off_says_why(
    alice: Any, run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception | None, code: str
) -> None:
    def break_off() -> None:
        if error:
            raise error

    logging(monkeypatch, run, break_off, texts=SHOWN[:1], stops=False)
    *_, last = [line async for line in sse.stream_events(reader(alice), ResponsePart(run), -1)]
    assert last.startswith(b"event: error\ndata: ")
    assert json.decode(last.partition(b"data: ")[2])["code"] == code
    *_, last = await lines_of_chat(alice, run)
    refusal = json.decode(last.removeprefix(b"data: "))
    assert set(refusal) == {"error"}
    assert (refusal["error"]["code"], refusal["error"]["type"]) == (code, "server_error")
    await until(sync_to_async(lambda: Run.objects.get().status == Status.STOPPED))


async def test_an_answer_that_goes_on_after_its_end_is_read_as_another_stream(
    alice: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    logging(monkeypatch, run, texts=SHOWN[:1])
    *_, last = [line async for line in sse.stream_events(reader(alice), ResponsePart(run), -1)]
    assert last.startswith(b"event: error")
    with pytest.raises(ApiError) as refused:
        await sse.await_response(reader(alice), ResponsePart(run))
    assert refused.value.code == "stream_unavailable"


async def test_a_chat_whose_stream_ends_before_its_run_is_stopped(
    alice: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    logging(monkeypatch, run, stops=False)
    lines = await lines_of_chat(alice, run)
    assert b"worker_lost" in lines[-1]
    await until(sync_to_async(lambda: Run.objects.get().status == Status.STOPPED))
