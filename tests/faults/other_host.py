"""A host of its own for a process: its own name and network, in which some ports of this machine's loopback can be reached.

The command runs in new namespaces (network, host name). Its loopback has a listener for each port, whose connections a
socket in a folder leads out to the same port of this machine. Nothing else can be reached, and nobody reaches it.
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
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

SIOCSIFFLAGS: Final = 0x8914
IFF_UP: Final = 0x1


def are_possible() -> bool:
    """Return whether this user may make namespaces."""
    return (
        subprocess.run(["unshare", "--net", "--uts", "true"], capture_output=True, check=False).returncode
        == 0
    )


def command_on(name: str, folder: Path, ports: Sequence[int], command: str) -> str:
    """Return the shell command that runs `command` on a host of this name. The ports must be led out in `folder`."""
    script = shlex.join(
        [sys.executable, "-m", "tests.faults.other_host", name, str(folder), *map(str, ports)]
    )
    return f"unshare --net --uts {script} {shlex.quote(command)}"


@contextlib.asynccontextmanager
async def led_out(folder: Path, ports: Sequence[int]) -> AsyncIterator[None]:
    """Lead the connections that arrive at the sockets in `folder` to these ports of the loopback."""
    async with contextlib.AsyncExitStack() as stack:
        for port in ports:

            async def accept(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int = port
            ) -> None:
                await _join(reader, writer, *await asyncio.open_connection("127.0.0.1", port))

            await stack.enter_async_context(await asyncio.start_unix_server(accept, folder / str(port)))
        yield


async def _lead(folder: Path, ports: Sequence[int], ready: int) -> None:
    """On the host: lead the connections to these ports to the sockets in `folder`, until cancelled."""
    for port in ports:

        async def accept(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int = port
        ) -> None:
            await _join(reader, writer, *await asyncio.open_unix_connection(folder / str(port)))

        await asyncio.start_server(accept, "127.0.0.1", port)
    os.write(ready, b"1")
    os.close(ready)


async def _join(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    far_reader: asyncio.StreamReader,
    far_writer: asyncio.StreamWriter,
) -> None:
    await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))


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
    """Become the command, beside a process that leads its connections out as long as it lives."""
    socket.sethostname(name)
    _bring_loopback_up()
    ready, say_ready = os.pipe()
    alive, stay_alive = os.pipe()
    if os.fork() == 0:
        os.close(stay_alive)

        async def lead() -> None:
            await _lead(folder, ports, say_ready)
            await asyncio.to_thread(os.read, alive, 1)  # the end of the pipe: the command has ended

        asyncio.run(lead())
        os._exit(0)
    os.close(say_ready)
    os.read(ready, 1)
    os.set_inheritable(stay_alive, True)
    os.execvp("/bin/sh", ["/bin/sh", "-c", f"exec {command}"])


if __name__ == "__main__":
    _name, _folder, *_ports, _command = sys.argv[1:]
    main(_name, Path(_folder), [int(port) for port in _ports], _command)
