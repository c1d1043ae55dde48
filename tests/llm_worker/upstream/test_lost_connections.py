"""A server that stops speaking HTTP in the middle of an answer ends it at once, also while the next byte is awaited."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx2
import pytest
import uvloop

from llm_worker.request.model_message import Message
from llm_worker.upstream.deltas import ModelFailed, TextDelta
from llm_worker.upstream.llm import LanguageModels
from llm_worker.upstream.model_request import Model, Request
from tests.llm_worker.upstream.test_windowed_reads import Windows

# The workers', and Python's own: how a connection ends is the loop's affair.
LOOPS = {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}
# No test waits for it.
SILENCE_S = 600
LIMIT_S = 60

# Of 127.0.0.1, with its key, signed by itself; for these tests alone.
CERTIFICATE = Path(__file__).with_name("localhost.pem")

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
FIRST = b'data: {"choices":[{"delta":{"content":"First."}}]}\n\n'


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def garbage(writer: asyncio.StreamWriter) -> None:
    """Stay connected, but send what is no chunk."""
    writer.write(b"no chunk\r\n")


def garbage_in_a_chunk(writer: asyncio.StreamWriter) -> None:
    """A chunk that is longer than it says."""
    writer.write(b"2\r\nlonger\r\n")


def fin(writer: asyncio.StreamWriter) -> None:
    writer.close()


def reset(writer: asyncio.StreamWriter) -> None:
    plain: socket.socket = writer.get_extra_info("socket")
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class RawServer:
    """Sends the head and the first token of an answer, and then, when it is told to, breaks off."""

    def __init__(self, how: Callable[[asyncio.StreamWriter], None]) -> None:
        self.how = how
        self.breaks = asyncio.Event()
        self.has_broken = asyncio.Event()
        self.may_leave = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD + chunk(FIRST))
        await self.breaks.wait()
        self.how(writer)
        self.has_broken.set()
        await self.may_leave.wait()
        writer.close()


async def start(server: RawServer, context: ssl.SSLContext | None = None) -> tuple[asyncio.Server, str]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
    port = listening.sockets[0].getsockname()[1]
    return listening, f"{'https' if context else 'http'}://127.0.0.1:{port}/v1"


@pytest.fixture
async def models() -> AsyncIterator[LanguageModels]:
    models = LanguageModels(connections=2, silence_s=SILENCE_S, first_retry_s=0.001)
    yield models
    await models.close()


@pytest.fixture
async def windowed_models() -> AsyncIterator[tuple[LanguageModels, Windows]]:
    windows = Windows()
    models = LanguageModels(connections=2, silence_s=SILENCE_S, flush_window=windows)
    yield models, windows
    await models.close()


async def read(models: LanguageModels, base_url: str, text: list[str]) -> None:
    request = Request(Model("scripted", base_url), [Message("U", "Why?")])
    async for deltas in models.stream(request):
        text += [delta.text for delta in deltas if isinstance(delta, TextDelta)]


async def until_it_waits_for_a_byte(text: list[str]) -> None:
    """The first token was read; with nothing streaming beside it the reader awaits the next byte from then on."""
    for _ in range(50):  # more turns of the loop than the reader needs to get there
        while not text:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.001)


WAYS = [garbage, garbage_in_a_chunk, fin, reset]


@pytest.mark.parametrize("how", WAYS)
async def test_an_answer_ends_when_the_server_breaks_off_while_the_next_byte_is_awaited(models, how):
    server, text = RawServer(how), list[str]()
    listening, base_url = await start(server)
    async with listening, asyncio.timeout(LIMIT_S):
        answer = asyncio.create_task(read(models, base_url, text))
        await until_it_waits_for_a_byte(text)
        server.breaks.set()
        with pytest.raises(ModelFailed, match="upstream_interrupted"):
            await answer
        server.may_leave.set()
    assert text == ["First."]


@pytest.mark.parametrize("how", WAYS)
async def test_an_answer_read_in_windows_ends_when_the_server_breaks_off_between_two(windowed_models, how):
    models, windows = windowed_models
    server, text = RawServer(how), list[str]()
    listening, base_url = await start(server)
    async with listening, asyncio.timeout(LIMIT_S):
        answer = asyncio.create_task(read(models, base_url, text))
        await windows.wait()
        server.breaks.set()
        await server.has_broken.wait()
        with pytest.raises(ModelFailed, match="upstream_interrupted"):
            await windows.keep_opening(answer)
        server.may_leave.set()
    assert text == ["First."]


@pytest.mark.parametrize("how", WAYS)
async def test_an_answer_read_in_windows_ends_when_the_server_breaks_off_after_an_empty_one(
    windowed_models, how
):
    models, windows = windowed_models
    server, text = RawServer(how), list[str]()
    listening, base_url = await start(server)
    async with listening, asyncio.timeout(LIMIT_S):
        answer = asyncio.create_task(read(models, base_url, text))
        await windows.wait()
        windows.open()
        await until_it_waits_for_a_byte(text)
        server.breaks.set()
        with pytest.raises(ModelFailed, match="upstream_interrupted"):
            await windows.keep_opening(answer)  # the bytes of a broken chunk are read in the next
        server.may_leave.set()
    assert text == ["First."]


@pytest.mark.parametrize("how", WAYS)
async def test_an_answer_over_tls_ends_when_the_server_breaks_off(monkeypatch, how):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
    monkeypatch.setattr(httpx2, "create_ssl_context", lambda: trusting)
    server, text = RawServer(how), list[str]()
    listening, base_url = await start(server, context)
    models = LanguageModels(connections=2, silence_s=SILENCE_S)
    async with listening, asyncio.timeout(LIMIT_S):
        answer = asyncio.create_task(read(models, base_url, text))
        await until_it_waits_for_a_byte(text)
        server.breaks.set()
        with pytest.raises(ModelFailed, match="upstream_interrupted"):
            await answer
        server.may_leave.set()
        await models.close()
    assert text == ["First."]
