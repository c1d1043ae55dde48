"""How streams and awaited answers end, whatever their run's log shows before."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from msgspec import json

from chat.models import Run
from chat.protocol import wire as p
from chat.protocol.states import Status
from features.openai import sse
from features.openai.chat import await_chat, stream_chat
from features.openai.chat_body import OpenAIChatBody
from tests import factories
from tests.features.openai.test_models import by_token
from tests.features.openai.test_responses import post
from tests.features.openai.test_waiting_requests import until
from web.rest.user_slots import Slot

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
    return sse.Reader(user, Slot(None, user.pk))


def logging(
    monkeypatch: pytest.MonkeyPatch, run: Run, on_end: Callable[[], Any] | None = None, *, stops: bool = True
) -> None:
    """Let the log have the texts of two attempts, and then `stop`; call on_end before that."""

    async def read(*_: Any) -> AsyncGenerator[p.Packet | p.Snapshot | p.Reset | None, None]:
        for attempt, text in enumerate(SHOWN, start=1):
            for seq, obj in enumerate([p.MessageStart(), p.MessageDelta(text)], start=1):
                yield p.Packet("session", str(run.pk), attempt, seq, p.Placement(0), obj)
        if on_end:
            await sync_to_async(on_end)()
        if stops:
            yield p.Packet("session", str(run.pk), 2, 3, p.Placement(1), p.Stop("finished"))

    monkeypatch.setattr(sse, "_read_log", read)


async def test_who_waits_gets_the_stored_answer_whichever_attempts_wrote_it(
    alice: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    logging(monkeypatch, run, lambda: factories.finish_run(str(run.pk), SHOWN[1]))
    response = json.decode((await sse.await_response(reader(alice), run)).content)
    assert response["status"] == "completed"
    assert response["output"][0]["content"][0]["text"] == SHOWN[1]
    logging(monkeypatch, run)
    answer = json.decode((await await_chat(reader(alice), run, BODY)).content)
    assert answer["choices"][0]["message"]["content"] == SHOWN[1]


async def test_a_chat_whose_stream_ends_before_its_run_is_stopped(
    alice: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    logging(monkeypatch, run, stops=False)
    lines = [line async for line in stream_chat(reader(alice), run, BODY)]
    assert b"worker_lost" in lines[-1]
    await until(sync_to_async(lambda: Run.objects.get().status == Status.STOPPED))
