"""Streams read in windows: no delta is lost, late or reordered, and the event loop is not woken in between."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
import uvloop
from aiohttp.client_proto import ResponseHandler

from chat.log.flush_window import FlushWindow
from llm_worker.request.model_message import Message
from llm_worker.upstream import transport
from llm_worker.upstream.deltas import ModelFailed, TextDelta
from llm_worker.upstream.llm import LanguageModels
from llm_worker.upstream.model_request import Model, Request
from tests.upstream import Upstream

# The workers'; what is held back, and how a connection ends, is the loop's affair.
LOOPS = {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}


class Windows(FlushWindow):
    """They open when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[asyncio.Future[None]] = []
        self.somebody_waits = asyncio.Event()

    def next_window(self) -> asyncio.Future[None]:
        self.waiting.append(asyncio.get_running_loop().create_future())
        self.somebody_waits.set()
        return self.waiting[-1]

    async def wait(self) -> None:
        """Returns when a reader waits for the next window."""
        async with asyncio.timeout(30):
            await self.somebody_waits.wait()

    def open(self) -> None:
        self.somebody_waits.clear()
        waiting, self.waiting = self.waiting, []
        for reader in waiting:
            if not reader.done():
                reader.set_result(None)

    async def keep_opening(self, until: asyncio.Task[None]) -> None:
        await self.keep_opening_until(until.done)
        await until

    async def keep_opening_until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():
                self.open()
                await asyncio.sleep(0.001)


class Reader:
    """Reads one answer into `text`."""

    def __init__(self, models: LanguageModels, upstream: Upstream) -> None:
        asked = Request(Model("scripted", upstream.base_url), [Message("U", "Why?")])
        self.text = ""
        self.task = asyncio.create_task(self._read(models.stream(asked)))

    async def _read(self, answer) -> None:
        async for deltas in answer:
            self.text += "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


@pytest.fixture
def windows() -> Windows:
    return Windows()


@pytest.fixture
async def models(windows: Windows) -> AsyncIterator[LanguageModels]:
    models = LanguageModels(connections=10, silence_s=3, flush_window=windows)
    yield models
    await models.close()


@pytest.fixture
def wakings(monkeypatch) -> list[int]:
    """How many bytes each piece had that the network's loop was given."""
    given: list[int] = []
    received = ResponseHandler.data_received

    def count(self: ResponseHandler, data: bytes) -> None:
        if data:  # aiohttp gives nothing to its parser to have it go on
            given.append(len(data))
        received(self, data)

    monkeypatch.setattr(ResponseHandler, "data_received", count)
    return given


async def all_sent(upstream: Upstream, chunks: int) -> None:
    await asyncio.to_thread(upstream.wait_for, lambda: upstream.requests[-1].chunks >= chunks)


async def disconnected(upstream: Upstream) -> None:
    await asyncio.to_thread(upstream.wait_for, lambda: upstream.requests[0].ended == "disconnected")


async def test_chunks_between_two_windows_do_not_wake_the_loop_one_by_one(models, windows, upstream, wakings):
    upstream.reply({"text": "First."}, {"wait": "more"}, {"words": 50, "every_s": 0.001}, {"wait": "end"})
    reader = Reader(models, upstream)
    await windows.wait()
    wakings.clear()
    upstream.release("more")
    await all_sent(upstream, 51)
    assert (reader.text, wakings) == ("First.", [])
    whole = "First." + "".join(f"{number} " for number in range(50))
    await windows.keep_opening_until(
        lambda: reader.text == whole
    )  # what has been sent may still be on its way
    assert len(wakings) < 25
    upstream.release("end")
    await windows.keep_opening(reader.task)


async def test_a_chunk_after_an_empty_window_is_read_immediately(models, windows, upstream):
    upstream.reply({"text": "First."}, {"wait": "more"}, {"text": " Second."}, {"wait": "end"})
    reader = Reader(models, upstream)
    await windows.wait()
    windows.open()
    await asyncio.sleep(0)
    upstream.release("more")
    await windows.wait()
    assert reader.text == "First. Second."
    upstream.release("end")
    await windows.keep_opening(reader.task)


async def test_reading_in_windows_continues_after_a_burst(models, windows, upstream, wakings):
    more = [{"wait": "more"}, {"words": 50, "every_s": 0.001}, {"wait": "end"}]
    upstream.reply({"text": "First."}, {"wait": "flood"}, {"text": "x" * 5_000}, *more)
    reader = Reader(models, upstream)
    await windows.wait()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transport, "PIECE_BYTES", 1_024)
        upstream.release("flood")
        await all_sent(upstream, 2)
        await windows.keep_opening_until(lambda: reader.text == "First." + "x" * 5_000)
    wakings.clear()
    upstream.release("more")
    await all_sent(upstream, 52)
    await windows.keep_opening_until(lambda: reader.text.endswith("48 49 "))
    assert len(wakings) < 25
    upstream.release("end")
    await windows.keep_opening(reader.task)


async def test_the_end_of_an_answer_does_not_wait_for_a_window(models, windows, upstream):
    finish = {"chunk": {"choices": [{"delta": {}, "finish_reason": "stop"}]}}
    upstream.reply({"text": "First."}, {"wait": "finish"}, finish, {"wait": "end"})
    reader = Reader(models, upstream)
    await windows.wait()
    upstream.release("finish")
    await all_sent(upstream, 2)
    windows.open()
    upstream.release("end")
    async with asyncio.timeout(30):
        await reader.task
    assert not windows.waiting


async def test_the_connection_of_an_answer_that_ends_between_windows_is_reused(models, windows, upstream):
    for place in ("one", "two", "three"):
        upstream.reply({"text": place}, {"wait": place}, {"text": " and a half"}, times=1)
        reader = Reader(models, upstream)
        await windows.wait()
        upstream.release(place)
        await asyncio.to_thread(upstream.wait_for, lambda: upstream.requests[-1].ended)
        await windows.keep_opening(reader.task)
        assert reader.text == f"{place} and a half"
    assert upstream.connections == 1


@pytest.mark.parametrize("how", ["abort", "close", "garbage"])
async def test_a_connection_that_breaks_between_windows_interrupts_the_answer(models, windows, upstream, how):
    upstream.reply({"text": "First."}, {"wait": "end"}, {"words": 3}, {"eof": how})
    reader = Reader(models, upstream)
    await windows.wait()
    upstream.release("end")
    await asyncio.to_thread(upstream.wait_for, lambda: upstream.requests[0].ended)
    with pytest.raises(ModelFailed, match="upstream_interrupted"):
        await windows.keep_opening(reader.task)
    assert reader.text in ("First.", "First.0 1 2 ")  # a reset may overtake what was sent before it


async def test_the_idle_time_out_applies_between_windows(models, windows, upstream):
    upstream.reply({"text": "First."}, {"hang": True})
    reader = Reader(models, upstream)
    await windows.wait()
    with pytest.raises(ModelFailed, match="upstream_timeout"):
        await windows.keep_opening(reader.task)


async def test_a_stop_between_windows_closes_the_connection(models, windows, upstream):
    upstream.reply({"text": "First."}, {"words": 100_000, "every_s": 0.001})
    reader = Reader(models, upstream)
    await windows.wait()
    reader.task.cancel()
    await disconnected(upstream)


async def test_a_burst_larger_than_one_read_arrives_whole_and_in_order(models, windows, upstream):
    upstream.reply({"words": 30_000})
    reader = Reader(models, upstream)
    await windows.keep_opening(reader.task)
    assert reader.text == "".join(f"{number} " for number in range(30_000))


async def test_a_server_that_sends_faster_than_it_is_read_gets_back_pressure(models, windows, upstream):
    upstream.reply({"words": 1_000_000})
    reader = Reader(models, upstream)
    await windows.wait()
    sent = -1
    while upstream.requests[0].chunks > sent:  # it sends as long as the client reads
        sent = upstream.requests[0].chunks
        await asyncio.sleep(0.5)
    assert sent < 1_000_000
    reader.task.cancel()
    await disconnected(upstream)
