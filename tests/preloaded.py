"""Starts programs of Python that have imported what they need: each is a fork of one process, which takes a hundredth of the time.

    with Preloaded("mcp.server.mcpserver") as preloaded:
        subprocess.Popen(preloaded.command("tests.mcp_server", "stdio"))

The process that a command starts (tests/preloaded_command.py) hands its standard streams, environment and folder to the fork, ends
with the fork's status, and takes it along when it is killed. Not for tests of how a program is started or imported.
"""

import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, Self

COMMAND = Path(__file__).with_name("preloaded_command.py")
ROOT = Path(__file__).parents[1]
MAX_REQUEST_BYTES = 64 * 1024


class Preloaded:
    """The process with these modules, until the end of the block."""

    def __init__(self, *modules: str) -> None:
        self._modules = modules
        self._folder = tempfile.TemporaryDirectory()
        self._address = f"{self._folder.name}/socket"

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.preloaded", self._address, *self._modules]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout
        assert self._process.stdout.readline() == b"ready\n"
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def command(self, module: str, *arguments: str) -> list[str]:
        """What runs the module as a program."""
        return [sys.executable, "-I", "-S", str(COMMAND), self._address, module, *arguments]


class Forks:
    """Accepts commands, forks for each, and tells each how its fork ended."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._commands: dict[int, socket.socket] = {}
        self._ended, self._waker = socket.socketpair()
        for one in (self._ended, self._waker):
            one.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._ended, selectors.EVENT_READ, self._tell)
        # Closed by the test, or with it.
        self._selector.register(sys.stdin, selectors.EVENT_READ, self._end)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waker.fileno())

    def serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                key.data(key.fileobj)

    def _accept(self, _: object) -> None:
        command, _ = self._listener.accept()
        content, streams, _, _ = socket.recv_fds(command, MAX_REQUEST_BYTES, 3)
        pid = os.fork()
        if pid == 0:
            self._run(json.loads(content), streams)
        for stream in streams:
            os.close(stream)
        self._commands[pid] = command
        self._selector.register(command, selectors.EVENT_READ, lambda _: self._kill(pid))

    def _run(self, request: dict[str, Any], streams: list[int]) -> NoReturn:
        """In the fork. It ends at once: to take down all that is imported takes longer than most programs."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(number, mode, closefd=False) for number, mode in enumerate("rww")
        )
        sys.argv[1:] = request["arguments"]
        status = 1
        try:
            runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
            status = 0
        except SystemExit as ended:
            if isinstance(ended.code, int | None):
                status = ended.code or 0
            else:
                print(ended.code, file=sys.stderr)
        except Exception:  # noqa: BLE001  the edge of the process
            traceback.print_exc()
        finally:
            for stream in (sys.stdout, sys.stderr):
                if not stream.closed:
                    stream.flush()
            os._exit(status)

    def _tell(self, _: object) -> None:
        """The statuses of the forks that have ended."""
        self._ended.recv(MAX_REQUEST_BYTES)
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                command = self._commands.pop(ended[0])
                with suppress(KeyError, OSError):  # the command was killed
                    self._selector.unregister(command)
                    command.sendall(str(os.waitstatus_to_exitcode(ended[1])).encode())
                command.close()

    def _kill(self, pid: int) -> None:
        """The command was killed, unless its fork has ended by itself."""
        with suppress(KeyError):
            self._selector.unregister(self._commands[pid])
            os.kill(pid, signal.SIGKILL)

    def _end(self, _: object) -> None:
        for pid in self._commands:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os._exit(0)


def main(address: str, *modules: str) -> None:
    for module in modules:
        importlib.import_module(module)
    # A collection of garbage in a fork would copy the memory of all that is imported.
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        Forks(listener).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
