"""Other users of the machine read nothing that an instance stores, also after an upgrade from one that let them."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.faults.foreign_machine import owner_and_mode
from tests.instance import LaunchedInstance

pytestmark = [pytest.mark.fault, pytest.mark.timeout(600)]
OTHERS = stat.S_IRWXG | stat.S_IRWXO


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def readable_by_others(data: Path) -> list[str]:
    """Paths below `data` that another user could open, by the modes of all folders on the way."""
    found = []
    for path in data.rglob("*"):
        # Copies of programs and static files hold nothing of anybody.
        if path.relative_to(data).parts[0] in ("static", "programs") or path.is_symlink():
            continue
        way = [path, *(folder for folder in path.parents if folder.is_relative_to(data) and folder != data)]
        is_open = all(step.stat().st_mode & stat.S_IXOTH for step in way[1:])
        if is_open and path.stat().st_mode & OTHERS:
            found.append(str(path.relative_to(data)))
    return found


def log_in(instance: LaunchedInstance) -> None:
    with httpx2.Client(trust_env=False, base_url=instance.address) as client:
        assert client.get("/login/").status_code == 200


def test_a_new_instance_stores_nothing_that_other_users_can_read(tmp_path: Path) -> None:
    instance = LaunchedInstance(tmp_path)
    instance.start()
    try:
        log_in(instance)
        valkey = instance.data / "valkey"
        assert list(valkey.rglob("*.aof")), "the append-only file, which holds answers"
        assert (instance.data / "logs").stat().st_mode & OTHERS == 0
        assert [path for path in valkey.rglob("*.aof") if path.stat().st_mode & OTHERS] == []
        assert readable_by_others(instance.data) == []
    finally:
        instance.stop()


def test_the_files_of_an_earlier_version_are_closed_by_the_next_start(tmp_path: Path) -> None:
    """Modes of what is not ours stay: another file in DATA_DIR, and what a link in it leads to."""
    data, foreign = tmp_path / "some data", tmp_path / "of somebody"
    for folder in (data / "logs", data / "valkey" / "appendonlydir", data / "media", foreign):
        folder.mkdir(parents=True)
    for path in (
        data / "logs" / "turnwire.log.1",
        data / "valkey" / "appendonlydir" / "appendonly.aof.1.incr.aof",
        data / "media" / "upload.txt",
        data / "notes.txt",
        foreign / "file.txt",
    ):
        path.write_text("")
        path.chmod(0o644)
    (data / "media" / "link").symlink_to(foreign)
    kept = {path: owner_and_mode(path) for path in (data, data / "notes.txt", foreign, foreign / "file.txt")}
    instance = LaunchedInstance(tmp_path, data=data)
    instance.start()
    try:
        assert readable_by_others(data) == ["notes.txt"]
        assert {path: owner_and_mode(path) for path in kept} == kept
    finally:
        instance.stop()
