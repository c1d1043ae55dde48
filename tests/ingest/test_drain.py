"""When a process that reads files takes no more of them. tests/faults/test_files.py ends real ones."""

import os
import signal
from typing import Any

import pytest

from ingest import drain

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def pipe(monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("_read_end", "_write_end", "_main_process"):
        monkeypatch.setattr(drain, name, getattr(drain, name))
    drain.open_pipe()
    yield
    drain.begin()
    assert drain._read_end is not None
    os.close(drain._read_end)


def test_it_begins_when_the_main_process_is_told_to_end() -> None:
    assert not drain.has_begun()
    drain.begin()
    drain.begin()
    assert drain.has_begun()


def test_a_pool_without_processes_does_not_begin_it() -> None:
    drain.close_inherited_write_end()
    assert not drain.has_begun()


def test_a_process_of_the_pool_sees_it_and_cannot_begin_it_for_others() -> None:
    child = os.fork()
    if not child:
        drain.close_inherited_write_end()
        os._exit(0 if not drain.has_begun() and drain._write_end is None else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert not drain.has_begun()


def test_a_termination_meanwhile_begins_it_and_takes_effect_afterwards() -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: received.append(number))
    try:
        with drain.deferring_sigterm():
            os.kill(os.getpid(), signal.SIGTERM)
            assert drain.has_begun()
            assert received == []
        assert received == [signal.SIGTERM]
        assert not drain.has_begun()
    finally:
        signal.signal(signal.SIGTERM, before)
