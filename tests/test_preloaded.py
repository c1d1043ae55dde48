"""Programs that are forks of a process that has imported what they need end as the same programs that do it themselves."""

import subprocess
from collections.abc import Iterator

import pytest

from tests.preloaded import Preloaded


@pytest.fixture(scope="module")
def preloaded() -> Iterator[Preloaded]:
    with Preloaded("json") as preloaded:
        yield preloaded


@pytest.mark.parametrize(("given", "status"), [(b"[1]", 0), (b"[1", 1)])
def test_streams_arguments_and_status_are_those_of_the_program(
    preloaded: Preloaded, given: bytes, status: int
) -> None:
    done = subprocess.run(
        preloaded.command("json.tool", "--compact"), input=given, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, bool(done.stderr)) == (
        status,
        b"" if status else b"[1]\n",
        bool(status),
    )


def test_who_kills_the_command_ends_the_program(preloaded: Preloaded) -> None:
    """Which has its output open until it ends."""
    with subprocess.Popen(
        preloaded.command("code"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as command:
        assert command.stderr
        assert command.stderr.readline().startswith(b"Python")
        command.kill()
        command.stderr.read()
