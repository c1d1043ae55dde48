"""A host of its own for a process: its own name and network, in which some ports of this machine's loopback can be reached.

The command runs in new namespaces (network, host name). What connects to one of the ports of its loopback is forwarded,
through a socket in a folder, to the same port of this machine. Nothing else can be reached, and nobody reaches it.
"""

import asyncio
import contextlib
import fcntl
import os
import shlex
import socket
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

SIOCSIFFLAGS: Final = 0x8914
IFF_UP: Final = 0x1

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def may_make_namespaces() -> bool:
    """Return whether this user may, and this machine can."""
    tried = subprocess.run(["unshare", "--net", "--uts", "true"], capture_output=True, check=False)
    return tried.returncode == 0


def command_on(name: str, folder: Path, ports: Sequence[int], command: str) -> str:
    """Return the shell command that runs `command` on a host of this name. The ports must be forwarded() in `folder`."""
    script = shlex.join(
        [sys.executable, "-m", "tests.faults.other_host", name, str(folder), *map(str, ports)]
    )
    return f"unshare --net --uts {script} {shlex.quote(command)}"


@contextlib.asynccontextmanager
async def forwarded(folder: Path, ports: Sequence[int]) -> AsyncIterator[None]:
    """Forward what connects to the sockets in `folder` to these ports of the loopback."""
    async with contextlib.AsyncExitStack() as stack:
        for port in ports:
            accept = _forwarding(partial(asyncio.open_connection, "127.0.0.1", port))
            await stack.enter_async_context(await asyncio.start_unix_server(accept, folder / str(port)))
        yield


async def _forward_on_host(folder: Path, ports: Sequence[int]) -> None:
    """Forward what connects to these ports to the sockets in `folder`."""
    for port in ports:
        accept = _forwarding(partial(asyncio.open_unix_connection, folder / str(port)))
        await asyncio.start_server(accept, "127.0.0.1", port)


def _forwarding(connect: Callable[[], Awaitable[Connection]]) -> Callable[..., Awaitable[None]]:
    """Return a function that accepts a connection and joins it with the one that `connect` makes."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await connect()
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))

    return accept


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


def _bring_loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def main(name: str, folder: Path, ports: Sequence[int], command: str) -> None:
    """Become the command, beside a process that forwards its connections as long as it lives."""
    socket.sethostname(name)
    _bring_loopback_up()
    listening, say_listening = os.pipe()
    has_ended, held_open = os.pipe()
    if os.fork() == 0:
        os.close(held_open)

        async def forward() -> None:
            await _forward_on_host(folder, ports)
            os.close(say_listening)
            await asyncio.to_thread(
                os.read, has_ended, 1
            )  # until the command, which holds the other end, has ended

        asyncio.run(forward())
        os._exit(0)
    os.close(say_listening)
    os.read(listening, 1)
    os.set_inheritable(held_open, True)
    os.execvp("/bin/sh", ["/bin/sh", "-c", f"exec {command}"])


if __name__ == "__main__":
    _name, _folder, *_ports, _command = sys.argv[1:]
    main(_name, Path(_folder), [int(port) for port in _ports], _command)
