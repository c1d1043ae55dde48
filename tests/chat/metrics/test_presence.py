"""What processes say of themselves, in a real Valkey."""

import os
import socket
import uuid
from collections.abc import Iterator

import pytest

from chat.infrastructure.redis_client import sync_redis
from chat.metrics import presence
from chat.metrics.presence import Announcement, Pool, Process, Role, Work, live_processes, pools


@pytest.fixture
def key() -> Iterator[str]:
    key = f"test:{{{uuid.uuid4()}}}"
    yield key
    stored = list(sync_redis().scan_iter(f"{key}*"))
    if stored:
        sync_redis().delete(*stored)


def announce(key: str, role: Role, work: Work | None = None) -> Announcement:
    announcement = Announcement(role, lambda: work or Work(), key)
    with sync_redis().pipeline() as pipe:
        announcement.write(pipe)
        pipe.execute()
    return announcement


def worker(*queues: str, slots: int = 10, busy: int = 4, is_draining: bool = False) -> Process:
    return Process("llm", "host", 7, "1.0", Work(queues, slots, busy, is_draining))


def test_a_process_says_where_it_runs_and_what_it_takes(key: str) -> None:
    announce(key, "web")
    announce(key, "llm", Work(("llm", "slow"), 50, 3, is_draining=True, owner=12))
    llm, web = live_processes(key)
    assert (llm.role, llm.host, llm.pid) == ("llm", socket.gethostname(), os.getpid())
    work = llm.work
    assert (work.queues, work.slots, work.busy, work.is_draining, work.owner) == (
        ("llm", "slow"),
        50,
        3,
        True,
        12,
    )
    assert (web.role, web.work.queues, web.work.slots) == ("web", (), 0)


def test_one_that_ends_is_gone_at_once_and_one_that_dies_after_its_time(key: str) -> None:
    ended, _dead = announce(key, "web"), announce(key, "sweeper")
    ended.withdraw()
    [dead] = live_processes(key)
    assert dead.role == "sweeper"
    [name] = sync_redis().scan_iter(f"{key}:present:*")
    assert 0 < sync_redis().ttl(name) <= presence.PRESENT_S
    sync_redis().delete(name)  # as its expiry does
    assert live_processes(key) == []
    assert sync_redis().scard(f"{key}:present") == 0


def test_a_silent_process_takes_no_work(key: str) -> None:
    announce(key, "llm", Work(("llm",), 50, 3))
    [name] = sync_redis().scan_iter(f"{key}:present:*")
    sync_redis().pexpire(name, int((presence.PRESENT_S - presence.FRESH_S - 1) * 1000))
    [silent] = live_processes(key)
    assert silent.silent_s == pytest.approx(presence.FRESH_S + 1, abs=0.9)
    assert not silent.takes_work
    assert pools([silent]) == [Pool("llm", 0, 0, 0, 0)]


def test_what_another_version_says_is_left_out(key: str) -> None:
    announce(key, "web")
    sync_redis().sadd(f"{key}:present", f"{key}:present:other")
    sync_redis().set(f"{key}:present:other", b'["llm", 3]')
    assert [process.role for process in live_processes(key)] == ["web"]


def test_a_pool_is_what_takes_tasks_of_its_queue() -> None:
    ending = worker("slow", is_draining=True)
    assert pools([worker("llm"), worker("llm", "slow", slots=2, busy=1), ending]) == [
        Pool("llm", 2, 12, 5, 0),
        Pool("slow", 1, 2, 1, 1),
    ]
