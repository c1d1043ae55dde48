"""The stdio transport: starts a server as a process of its own and exchanges lines with it.

It replaces the SDK's transport, which reads lines of any length and passes the server's error output on to ours. It
ends a server that sends too much or takes too much memory, and never waits for a server that does not end.

The order of the shutdown is that of the specification (2025-11-25, Lifecycle, Shutdown).
"""

import asyncio
import json
import os
import signal
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

from features.mcp.client.configuration import (
    MAX_MESSAGE_BYTES,
    TOO_LARGE,
    UNREADABLE,
    Configuration,
    ServerUnavailable,
    values_of,
)
from features.mcp.client.message_limits import MessageLimits

Incoming = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]

# Of lines that are no messages, such as text that a program prints although its output belongs to the protocol.
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
        """Send a signal to all processes of the session: the server and those that it has started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


class StdioServer:
    """A server that runs as a process. problem: why it cannot be used any more; empty while it can.
    detail: the end of its error output, for staff.
    """

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._errors: deque[str] = deque(maxlen=_ERROR_LINES)
        self.problem = ""

    @property
    def detail(self) -> str:
        return " ".join(self._errors)[-_LINE_CHARACTERS:] if self.problem == ENDED else ""

    @asynccontextmanager
    async def transport(self) -> AsyncIterator[Streams]:
        """Run the server, and yield the streams for the SDK. Raises ServerUnavailable."""
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
                # A task that waits to hand over a message learns that nobody takes it.
                await incoming.aclose()
                await _end(process, is_patient=not self.problem)
                # The server's last output is still in the pipe.
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
                # Python, npx and uv run what they find there or above; others can put it into the temporary folder.
                cwd="/",
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
        """Pass on the server's messages; then close the stream, which ends every request that waits for an answer.
        If the server has ended, its error output, which tells why, is read before that.
        """
        noise = 0
        async with to_us:
            try:
                while line := await process.stdout.readline():
                    if problem := MessageLimits().take(line):
                        self.problem = problem
                        return
                    message = _parse(line)
                    if message is not None:
                        await to_us.send(message)
                    elif (noise := noise + len(line)) > MAX_NOISE_BYTES:
                        self.problem = (
                            "The server writes text to its output that is no message of the protocol."
                        )
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
        """Keep the last lines of the error output, the server's log, to say why it has ended."""
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
    """Parse a message; None: it is none. An answer that cannot be read becomes an error, for which its request waits."""
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        pass
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict) or "method" in answer or not answer.keys() & {"result", "error"}:
        return None
    request = answer.get("id")
    if not isinstance(request, int | str) or isinstance(request, bool):
        return None
    error = types.ErrorData(code=types.PARSE_ERROR, message=f"{UNREADABLE} answer")
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=request, error=error))


def _memory_of(pid: int) -> int:
    """Return the bytes of memory of the process and those that it has started."""
    total = 0
    with suppress(psutil.Error):
        own = psutil.Process(pid)
        for process in (own, *own.children(recursive=True)):
            with suppress(psutil.Error):
                total += process.memory_info().rss
    return total


async def _end(process: _Process, *, is_patient: bool) -> None:
    """End the server. `is_patient`: it gets time to end by itself."""
    process.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL) if is_patient else (signal.SIGKILL,):
        if number is not None:
            process.signal(number)
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                await process.process.wait()
            break
    # Processes that it has started and left behind.
    process.signal(signal.SIGKILL)


async def _drain(process: _Process) -> None:
    """Read the pipes to the end, because asyncio closes them only then.
    A process that has left the session can keep them open.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(_GRACE_S):
            for pipe in (process.stdout, process.stderr):
                while await pipe.read(64 * 1024):
                    pass
