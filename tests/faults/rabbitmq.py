"""Runs a RabbitMQ of its own on loopback ports. Without the program, tests of it are skipped with a message."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.instance import free_port
from tests.process_reaper import end_with_this_process

PATIENCE_S = 90.0
# Debian's commands in /usr/sbin change the user.
FOLDERS = "/usr/lib/rabbitmq/lib", "/opt/homebrew/sbin", "/usr/local/sbin"


def find_programs() -> str:
    """The folder of rabbitmq-server and rabbitmqctl."""
    found = next(iter(sorted(Path(FOLDERS[0]).glob("*/sbin"), reverse=True)), None)
    program = shutil.which("rabbitmq-server", path=os.pathsep.join([str(found), *FOLDERS[1:]]))
    if program is None or shutil.which("epmd") is None:
        pytest.skip("RabbitMQ is not installed: it was NOT tested")
    return str(Path(program).parent)


class RabbitMQ:
    """environment: with rabbitmqctl of this node in its PATH."""

    def __init__(self, folder: Path) -> None:
        self.port, epmd_port, node_port = (str(free_port()) for _ in range(3))
        (folder / "plugins").write_text("[].")
        (folder / "rabbitmq.conf").write_text(f"listeners.tcp.1 = 127.0.0.1:{self.port}\n")
        self.environment = {
            "PATH": f"{find_programs()}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "ERL_EPMD_PORT": epmd_port,
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"turnwire{self.port}@localhost",
            "RABBITMQ_DIST_PORT": node_port,
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
        }
        self._folder = folder
        # RabbitMQ would start one that outlives it.
        self._processes = [self._start("epmd", "-address", "127.0.0.1", "-port", epmd_port)]
        self._processes.append(self._start("rabbitmq-server"))

    @classmethod
    @contextmanager
    def running(cls, folder: Path) -> Iterator["RabbitMQ"]:
        broker = cls(folder)
        try:
            broker.wait_until_ready()
            yield broker
        finally:
            broker.control("stop")
            for process in reversed(broker._processes):
                process.terminate()
                process.wait(PATIENCE_S)

    def control(self, *arguments: str) -> str:
        return self.shell('rabbitmqctl -q "$@"', *arguments)

    def shell(self, script: str, *arguments: str) -> str:
        done = subprocess.run(
            ["/bin/sh", "-ec", script, "sh", *arguments], env=self.environment, cwd=self._folder,
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def wait_until_ready(self) -> None:
        limit = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.control("await_startup", "--timeout", "60")
            except AssertionError:
                assert time.monotonic() < limit, (self._folder / "output.txt").read_text()
                assert self._processes[-1].poll() is None, (self._folder / "output.txt").read_text()
            else:
                return

    def _start(self, *command: str) -> subprocess.Popen[bytes]:
        with (self._folder / "output.txt").open("ab") as output:
            process = subprocess.Popen(
                command, env=self.environment, cwd=self._folder, stdin=subprocess.DEVNULL,
                stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        end_with_this_process(process)
        return process
