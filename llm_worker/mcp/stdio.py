"""The stdio transport: starts a server as a process of its own and exchanges lines with it.

Not the SDK's, which reads lines of any length, and gives what the server says on its error output to ours. This one ends a server
that sends too much or takes too much memory, and never waits for one that does not end.

The order of the shutdown is the specification's (2025-11-25, Lifecycle, Shutdown).
"""

import asyncio
import os
import signal
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final, NamedTuple, cast

import anyio
import mcp_types as types
import psutil
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from llm_worker.mcp.configuration import (
    MAX_MESSAGE_BYTES,
    TOO_LARGE,
    Configuration,
    ServerUnavailable,
    values_of,
)

Incoming = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]

# Of lines that are no messages, such as what a program prints although its output belongs to the protocol.
MAX_NOISE_BYTES: Final = 1024 * 1024
MAX_MEMORY_BYTES: Final = 1024 * 1024 * 1024
_MEMORY_CHECK_S: Final = 5.0
_ERROR_LINES: Final = 5
ENDED: Final = "The server has ended."
_LINE_CHARACTERS: Final = 300
# For each step of a shutdown.
_GRACE_S: Final = 2.0


class _Process(NamedTuple):
    """A process with its pipes."""

    process: asyncio.subprocess.Process
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader

    @property
    def pid(self) -> int:
        return self.process.pid

    def signal(self, number: signal.Signals) -> None:
        """Also to those that it has started: all that are in its session."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


class StdioServer:
    """problem: why the server is of no use any more; empty while it is.  detail: what its error output says, for staff."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._errors: deque[str] = deque(maxlen=_ERROR_LINES)
        self.problem = ""

    @property
    def detail(self) -> str:
        return " ".join(self._errors)[-_LINE_CHARACTERS:] if self.problem == ENDED else ""

    @asynccontextmanager
    async def transport(self) -> AsyncIterator[Streams]:
        """The streams that the SDK takes. Raises ServerUnavailable."""
        process = await self._start(values_of(self._configuration.env))
        to_us, incoming = anyio.create_memory_object_stream[Incoming](0)
        outgoing, from_us = anyio.create_memory_object_stream[SessionMessage](0)
        errors = asyncio.create_task(self._read_errors(process))
        reading = asyncio.create_task(self._read(process, to_us, errors))
        writing = asyncio.create_task(self._write(process, from_us))
        watching = asyncio.create_task(self._watch_memory(process))
        tasks = (errors, reading, writing, watching)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                # Whoever waits to hand over a message is told that nobody takes it.
                await incoming.aclose()
                await _end(process, is_patient=not self.problem)
                # What it said at its end is in the pipe.
                await asyncio.wait({reading, errors}, timeout=_GRACE_S)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                await _drain(process)
                for stream in (to_us, outgoing, from_us):
                    await stream.aclose()

    async def _start(self, env: Mapping[str, str]) -> _Process:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._configuration.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=get_default_environment() | dict(env),
                cwd=tempfile.gettempdir(),
                start_new_session=True,
                limit=MAX_MESSAGE_BYTES,
            )
        except OSError as error:
            detail = f"The program cannot be started: {error.strerror}."
            raise ServerUnavailable("The server cannot be started.", detail) from error
        pipes = (process.stdin, process.stdout, process.stderr)
        return _Process(
            process, *cast("tuple[asyncio.StreamWriter, asyncio.StreamReader, asyncio.StreamReader]", pipes)
        )

    async def _read(
        self, process: _Process, to_us: MemoryObjectSendStream[Incoming], errors: asyncio.Task[None]
    ) -> None:
        """Closes the stream at the end, which ends every request that waits for an answer: when all is read that tells why."""
        noise = 0
        async with to_us:
            try:
                while line := await process.stdout.readline():
                    message = _parse(line)
                    if message is not None:
                        await to_us.send(message)
                    elif (noise := noise + len(line)) > MAX_NOISE_BYTES:
                        self.problem = "The server writes what is no message of the protocol to its output."
                        return
            except ValueError:  # longer than the limit
                self.problem = TOO_LARGE
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                pass  # the connection is being closed
            else:
                self.problem = self.problem or ENDED
                await asyncio.wait({errors}, timeout=_GRACE_S)

    async def _write(self, process: _Process, from_us: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_us:
            with suppress(ConnectionError, anyio.ClosedResourceError):
                async for sent in from_us:
                    text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                    process.stdin.write(text.encode() + b"\n")
                    await process.stdin.drain()

    async def _read_errors(self, process: _Process) -> None:
        """Its error output is its log, which is kept for what to say when it has ended."""
        while piece := await process.stderr.read(64 * 1024):
            lines = piece.decode(errors="replace").splitlines()[-_ERROR_LINES:]
            self._errors.extend(line[:_LINE_CHARACTERS].strip() for line in lines if line.strip())

    async def _watch_memory(self, process: _Process) -> None:
        while process.process.returncode is None:
            if await asyncio.to_thread(_memory_of, process.pid) > MAX_MEMORY_BYTES:
                self.problem = f"The server took more than {MAX_MEMORY_BYTES // 1024 // 1024} MiB of memory."
                process.signal(signal.SIGKILL)
                return
            await asyncio.sleep(_MEMORY_CHECK_S)


def _parse(line: bytes) -> SessionMessage | None:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        return None


def _memory_of(pid: int) -> int:
    """Bytes of the process and those it has started."""
    total = 0
    with suppress(psutil.Error):
        own = psutil.Process(pid)
        for process in (own, *own.children(recursive=True)):
            with suppress(psutil.Error):
                total += process.memory_info().rss
    return total


async def _end(process: _Process, *, is_patient: bool) -> None:
    """is_patient: it is given the time to end by itself."""
    process.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL) if is_patient else (signal.SIGKILL,):
        if number is not None:
            process.signal(number)
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                await process.process.wait()
            break
    # What it has started, and left behind.
    process.signal(signal.SIGKILL)


async def _drain(process: _Process) -> None:
    """Read what is left in its pipes: asyncio closes them at their end, which is there unless a process has left the session."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_GRACE_S):
            for pipe in (process.stdout, process.stderr):
                while await pipe.read(64 * 1024):
                    pass
