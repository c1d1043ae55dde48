"""A conversation over the websocket: sending, streaming, resuming, stopping. The tests act as the worker."""

import asyncio

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from knox.models import AuthToken

from chat.events import session_events
from chat.infrastructure.redis_client import async_redis
from chat.infrastructure.server_waits import announce_wait, end_wait
from chat.log.publisher import Publisher
from chat.log.stream import run_log, session_channel
from chat.models import ModelConfig, Run, Session
from chat.models.outcome import RunOutcome
from chat.protocol import wire as p
from chat.protocol.states import Status
from chat.runs.completion import announce, commit_end
from tests import sockets
from web.socket.hub import current_hub

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = ["日本", "語 ", "e\u0301", " 👩‍👩‍👧", " end"]


@pytest.fixture
def alice(transactional_db) -> User:
    ModelConfig.objects.create(name="model", is_default=True)
    return User.objects.create_user("alice", password="a")


@pytest.fixture
def session(alice) -> str:
    return str(Session.objects.start(alice).pk)


@pytest_asyncio.fixture
async def address():
    async with sockets.web() as address:
        yield address


@pytest_asyncio.fixture
async def publisher(address):
    publisher = Publisher(async_redis())
    await publisher.start()
    yield publisher
    await publisher.close()


@pytest.fixture
def dial(address, alice):
    """Opens a socket as alice."""
    token = AuthToken.objects.create(alice)[1]
    return lambda: sockets.socket(address, Authorization=f"Token {token}")


class Worker:
    """Claims one run and publishes as its worker."""

    def __init__(self, publisher: Publisher, run: Run, session: str) -> None:
        self.run = run
        address = p.RunAddress(session, str(run.pk), run.attempt)
        self.producer = publisher.open(address, on_stale=lambda: None)
        self.producer.emit(p.Placement(), p.RunStart(model="model"))
        self.producer.emit(p.Placement(), p.MessageStart())

    async def say(self, text: str) -> None:
        self.producer.emit(p.Placement(), p.MessageDelta(text=text))
        await self.producer.flush()

    async def end(self, text: str) -> None:
        await self.commit(text)
        await self.announce()

    async def commit(self, text: str) -> None:
        last_seq = self.producer.settle() + 1
        end = RunOutcome(Status.COMPLETED, last_seq=last_seq, text=text)
        assert await sync_to_async(commit_end)(self.run.pk, self.run.attempt, end)

    async def announce(self) -> None:
        self.producer.emit(p.Placement(), p.Stop(stop_reason="finished"))
        await self.producer.flush()
        await sync_to_async(announce)(self.run.pk)


async def claimed(publisher: Publisher, run: str, session: str) -> Worker:
    found = await sync_to_async(Run.objects.claim)(run, owner=1)
    assert found
    return Worker(publisher, found, session)


async def sent(client: sockets.Client, session: str) -> str:
    """Send a message; return the id of its only run."""
    accepted = await client.ask(type="send", session=session, text="Hi")
    assert accepted["type"] == "accepted", accepted
    return accepted["runs"][0]["id"]


def is_stop(one: dict) -> bool:
    return one["type"] == "packet" and one["obj"]["type"] == "stop"


def shown(client: sockets.Client, before: str = "") -> str:
    """The text that a client shows: snapshots replace it, resets clear it, packets append."""
    text = before
    for one in client.seen:
        match one:
            case {"type": "snapshot"}:
                text = one["message"]["text"]
            case {"type": "reset"}:
                text = ""
            case {"type": "packet"}:
                text += one["obj"]["text"] if one["obj"]["type"] == "message_delta" else ""
    return text


def seqs(client: sockets.Client) -> list[int]:
    return [one["seq"] for one in client.seen if one["type"] == "packet"]


async def test_an_answer_is_streamed_to_every_tab_and_announced(dial, session, publisher):
    async with dial() as first, dial() as second:
        for tab in (first, second):
            assert (await tab.ask(type="subscribe", session=session))["runs"] == []
        run = await sent(first, session)
        worker = await claimed(publisher, run, session)
        for text in TEXT:
            await worker.say(text)
        await worker.end("".join(TEXT))
        for tab in (first, second):
            stopped = await tab.until(lambda one: one["type"] == "overall_stop")
            assert (stopped["n"], stopped["stop_reason"]) == (2, "finished")
            started = [one for one in tab.seen if one["type"] == "turn_started"]
            assert [(one["n"], one["runs"][0]["id"]) for one in started] == [(1, run)]
            assert shown(tab) == "".join(TEXT)
            assert seqs(tab) == list(range(1, len(seqs(tab)) + 1))


async def test_a_socket_that_goes_away_stops_nothing_and_the_next_one_goes_on(dial, session, publisher):
    async with dial() as client:
        await client.ask(type="subscribe", session=session)
        run = await sent(client, session)
        worker = await claimed(publisher, run, session)
        await worker.say("before ")
        await client.until(lambda one: one["type"] == "packet" and one["obj"].get("text"))
        cursor, before = {"attempt": 1, "seq": seqs(client)[-1]}, shown(client)
    await worker.say("meanwhile ")
    async with dial() as client:
        reply = await client.ask(type="subscribe", session=session, cursors={run: cursor}, since=1)
        assert reply["runs"][0]["status"] == "running"
        await worker.say("after")
        await worker.end("before meanwhile after")
        await client.until(is_stop)
        assert shown(client, before) == "before meanwhile after"
        assert seqs(client)[0] == cursor["seq"] + 1


async def test_who_comes_after_the_end_gets_the_rest_and_what_happened(dial, session, publisher):
    async with dial() as client:
        run = await sent(client, session)
    worker = await claimed(publisher, run, session)
    await worker.say("said")
    await worker.end("said")
    async with dial() as client:
        await client.ask(type="subscribe", session=session, since=0, cursors={run: {"attempt": 1, "seq": 2}})
        await client.until(lambda one: is_stop(one) or one["type"] == "overall_stop")
        await client.until(lambda one: is_stop(one) or one["type"] == "overall_stop")
        assert shown(client) == "said"
        assert [one["n"] for one in client.seen if "n" in one and one["type"] != "subscribed"] == [1, 2]


async def test_after_the_log_has_expired_one_snapshot_and_the_stop_stand_for_it(dial, session, publisher):
    async with dial() as client:
        run = await sent(client, session)
    worker = await claimed(publisher, run, session)
    await worker.say("said")
    await worker.end("said")
    log = run_log(session, run)
    await async_redis().delete(log.meta, log.entries)
    async with dial() as client:
        await client.ask(type="subscribe", session=session, cursors={run: {"attempt": 1, "seq": 1}})
        last = await client.until(is_stop)
        snapshot = client.seen[-2]
        assert (snapshot["type"], snapshot["message"]["status"], shown(client)) == (
            "snapshot",
            "completed",
            "said",
        )
        assert (snapshot["seq"], last["seq"]) == (last["seq"] - 1, worker.producer.settle())


async def test_a_reader_between_the_commit_of_an_end_and_its_stop_waits_for_the_stop(
    dial, session, publisher
):
    async with dial() as client:
        run = await sent(client, session)
    worker = await claimed(publisher, run, session)
    await worker.say("said")
    seen = {"attempt": 1, "seq": worker.producer.settle()}
    await worker.commit("said")
    async with dial() as client:
        await client.ask(type="subscribe", session=session, cursors={run: seen})
        (subscription,) = current_hub().topics[session_channel(session)].subscribers
        feeds = subscription.feeds.live
        while run in feeds and feeds[run].is_healing:  # noqa: ASYNC110  a feed has no event for it
            await asyncio.sleep(0.005)
        await worker.announce()
        await client.until(is_stop)
        assert seqs(client) == [seen["seq"] + 1]
        assert not [one for one in client.seen if one["type"] == "snapshot"]


async def test_a_cursor_past_the_end_of_a_run_is_refused_and_one_at_the_end_gets_nothing(
    dial, session, publisher
):
    async with dial() as client:
        run = await sent(client, session)
        worker = await claimed(publisher, run, session)
        await worker.end("")
        end = {"attempt": 1, "seq": worker.producer.settle()}
        refused = await client.ask(
            type="subscribe", session=session, cursors={run: end | {"seq": end["seq"] + 1}}
        )
        assert refused["code"] == "invalid_cursor"
        refused = await client.ask(type="subscribe", session=session, cursors={run: end | {"attempt": 2}})
        assert refused["code"] == "invalid_cursor"
        await client.ask(type="subscribe", session=session, cursors={run: end})
        assert await client.ask(type="ping") == {"type": "pong"}
        assert seqs(client) == []


async def test_a_session_that_lost_its_events_asks_the_client_to_read_it_again(dial, session):
    async with dial() as client:
        await client.ask(type="subscribe", session=session, since=7)
        assert await client.next() == {"type": "resync", "session": session, "n": 0}


async def test_a_newer_attempt_resets_what_was_shown(dial, session, publisher):
    async with dial() as client:
        await client.ask(type="subscribe", session=session)
        run = await sent(client, session)
        old = await claimed(publisher, run, session)
        await old.say("lost words")
        await client.until(lambda one: one["type"] == "packet" and one["obj"].get("text"))
        await sync_to_async(Run.objects.filter(pk=run).update)(status=Status.QUEUED)
        new = await claimed(publisher, run, session)
        await new.say("kept words")
        await new.end("kept words")
        await client.until(is_stop)
        assert shown(client) == "kept words"
        assert [one["attempt"] for one in client.seen if one["type"] == "reset"] == [2]


async def test_a_waiting_run_tells_its_place_and_a_stop_ends_it(dial, session):
    current_hub().watchdog.intervals.tick_s = 0.05
    current_hub().watchdog.intervals.queued_after_s = 3_600
    async with dial() as client:
        await client.ask(type="subscribe", session=session)
        run = await sent(client, session)
        # Not before: asking for the reply skips a place that is told meanwhile, and it is told once.
        current_hub().watchdog.intervals.queued_after_s = 0
        assert (await client.until(lambda one: one["type"] == "queued")) == {
            "type": "queued",
            "run": run,
            "position": 1,
        }
        await client.say(type="stop", run=run, id=1)
        reply = await client.until(lambda one: one["type"] == "stopping")
        assert reply == {"type": "stopping", "run": run, "status": "stopped", "id": 1}
        async with dial() as other:
            await other.ask(type="subscribe", session=session, cursors={run: {"attempt": 0, "seq": 0}})
            assert (await other.until(is_stop))["obj"]["stop_reason"] == "user_cancelled"


async def test_a_silent_run_shows_that_it_lives(dial, session, publisher):
    current_hub().watchdog.intervals.tick_s = 0.05
    current_hub().watchdog.intervals.heartbeat_after_s = 0.2
    async with dial() as client:
        await client.ask(type="subscribe", session=session)
        run = await sent(client, session)
        worker = await claimed(publisher, run, session)
        await worker.say("thinking")
        assert await client.until(lambda one: one["type"] == "heartbeat") == {"type": "heartbeat", "run": run}


async def test_a_run_whose_start_is_told_after_its_end_shows_no_more_that_it_lives(
    dial, session, publisher, monkeypatch
):
    intervals = current_hub().watchdog.intervals
    intervals.tick_s, intervals.compare_after_s = 0.05, 0.2
    publish = session_events.publish

    def lose_starts(event):
        if event.kind != "turn_started":
            publish(event)

    async with dial() as client:
        await client.ask(type="subscribe", session=session)
        monkeypatch.setattr(session_events, "publish", lose_starts)
        run = await sent(client, session)
        worker = await claimed(publisher, run, session)
        await worker.say("Hello")
        await worker.end("Hello")
        await client.until(lambda one: one["type"] == "overall_stop")
        assert [one["type"] for one in client.seen].count("turn_started") == 1
        [topic] = current_hub().topics.values()
        [subscription] = topic.subscribers
        async with asyncio.timeout(30):
            while subscription.feeds.live:  # noqa: ASYNC110
                await asyncio.sleep(0.02)


async def test_a_client_that_does_not_read_is_closed_and_others_notice_nothing(dial, session, publisher):
    async with dial() as slow, dial() as reader:
        for client in (slow, reader):
            await client.ask(type="subscribe", session=session)
        slow.connection.transport.pause_reading()
        worker = await claimed(publisher, await sent(reader, session), session)
        [topic] = current_hub().topics.values()
        block = 0
        # The kernel takes some megabytes on behalf of a client that does not read.
        while len(topic.subscribers) == 2:
            block += 1
            assert block < 1_000, "never closed"
            worker.producer.emit(p.Placement(turn_index=block), p.MessageDelta(text="x" * 90_000))
            await worker.producer.flush()
            await reader.until(lambda one: one.get("seq") == worker.producer.settle())
        slow.connection.transport.resume_reading()
        assert await slow.close_code() == 4408
        await worker.end("")
        await reader.until(is_stop)
        assert seqs(reader) == list(range(1, worker.producer.settle() + 1))


async def test_a_run_that_waits_for_its_model_server_tells_its_place_until_the_server_takes_it(
    dial, session, publisher
):
    current_hub().watchdog.intervals.tick_s = 0.05
    current_hub().watchdog.intervals.queued_after_s = 0.1
    async with dial() as client:
        await client.ask(type="subscribe", session=session)
        run = await sent(client, session)
        worker = await claimed(publisher, run, session)
        await worker.say("First I search.")
        await announce_wait(run, 2)
        expected = {"type": "queued", "run": run, "position": 2}
        assert await client.until(lambda one: one["type"] == "queued" and one["position"] == 2) == expected
        await end_wait(run)
        over = await client.until(lambda one: one["type"] == "queued")
        assert over == {"type": "queued", "run": run, "position": None}
