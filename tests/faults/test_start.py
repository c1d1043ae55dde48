"""The launcher with real processes: start, refusal, restart, stop, kill."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from tests.instance import PATIENCE_S, LaunchedInstance, have_ended, is_serving

pytestmark = [pytest.mark.fault, pytest.mark.timeout(400)]

# Process name -> words of its command line
PROCESSES = {
    "web": ("uvicorn",),
    "llm": ("celery", "-Q llm"),
    "sweeper": ("manage.py", "sweep_runs"),
    "compression": ("celery", "-Q compression"),
    "ingest": ("celery", "-Q ingest"),
    "valkey": ("valkey-server",),
    "postgres": ("postgres", "-D"),
    "demo": ("-m demo",),
}
# How many of each with these words; all others: one. The pool of ingest has titles of its own.
COUNTS = {"llm": 2}


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LaunchedInstance]:
    instance = LaunchedInstance(tmp_path_factory.mktemp("instance")).start()
    yield instance
    instance.stop()


def is_answering(instance: LaunchedInstance, name: str) -> bool:
    """Whether the service answers at the address that the start announced."""
    try:
        match name:
            case "web":
                return is_serving(instance.address)
            case "demo":
                return is_serving(instance.stored_environment()["LLM_BASE_URL"] + "/models")
            case "valkey":
                with redis.Redis.from_url(instance.stored_environment()["REDIS_URL"]) as client:
                    return bool(client.ping())
            case "postgres":
                with psycopg.connect(
                    instance.stored_environment()["DATABASE_URL"], connect_timeout=5
                ) as connection:
                    return connection.execute("SELECT count(*) FROM auth_user").fetchone() is not None
            case _:
                return len(instance.children(*PROCESSES[name])) == COUNTS.get(name, 1)
    except (redis.RedisError, psycopg.Error):
        return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("name", PROCESSES)
def test_a_process_that_ends_comes_back_at_the_same_address(
    instance: LaunchedInstance, name: str, number: signal.Signals
) -> None:
    instance.wait_until(lambda: is_answering(instance, name), f"{name} before")
    before = {process.pid for process in instance.children(*PROCESSES[name])}
    victim = next(
        process for process in instance.children(*PROCESSES[name]) if process.ppid() == instance.process.pid
    )
    # At SIGTERM, Postgres waits for its clients; at SIGINT it does not.
    victim.send_signal(signal.SIGINT if name == "postgres" and number == signal.SIGTERM else number)

    def replaced() -> bool:
        now = {process.pid for process in instance.children(*PROCESSES[name])}
        return victim.pid not in now and bool(now - before) and is_answering(instance, name)

    instance.wait_until(replaced, f"{name} after {number.name}")


def test_a_killed_guard_is_replaced(instance: LaunchedInstance) -> None:
    guard = instance.children("orphan_guard.py")[0]
    guard.kill()
    instance.wait_until(
        lambda: [process.pid for process in instance.children("orphan_guard.py")] not in ([], [guard.pid]),
        "a new guard",
    )


def test_every_process_is_a_descendant_in_a_group_of_its_own(instance: LaunchedInstance) -> None:
    for words in PROCESSES.values():
        for process in instance.children(*words):
            if process.ppid() == instance.process.pid:
                assert os.getpgid(process.pid) == process.pid
                assert os.getsid(process.pid) == os.getsid(instance.process.pid), "not daemonised"


@pytest.mark.core
def test_a_new_instance_serves_what_its_pages_name(instance: LaunchedInstance) -> None:
    """Static files are collected by the start itself: a process that looked for them before would know of none."""
    with urllib.request.urlopen(f"{instance.address}/login/", timeout=PATIENCE_S) as answer:
        named = re.findall(r'(?:href|src)="(/static/[^"]+)"', answer.read().decode())
    assert any(name.endswith(".css") for name in named)
    for name in named:
        urllib.request.urlopen(instance.address + name, timeout=PATIENCE_S).close()


@pytest.mark.core
def test_a_second_start_says_so_in_one_line_and_leaves_the_first_alone(
    instance: LaunchedInstance, tmp_path: Path
) -> None:
    before = {process.pid for process in instance.children("-m")}
    kept = instance.stored_environment()
    status, said = LaunchedInstance(tmp_path, data=instance.data).run()
    assert status != 0
    assert said.startswith(f"already running at {instance.address} ")
    assert len(said.splitlines()) == 1
    assert {process.pid for process in instance.children("-m")} == before
    assert instance.stored_environment() == kept


def test_a_taken_port_is_one_clear_line(instance: LaunchedInstance, tmp_path: Path) -> None:
    status, said = LaunchedInstance(tmp_path, port=instance.port).run()
    assert status not in (0, None)
    assert said.startswith(f"PORT: {instance.port} ")
    assert len(said.splitlines()) == 1


def test_manage_py_in_a_second_shell_uses_the_running_services(instance: LaunchedInstance) -> None:
    def manage(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=instance.code, check=True, capture_output=True, text=True,
            env={name: value for name, value in instance.environment().items() if name in ("PATH", "HOME", "DATA_DIR")},
        ).stdout  # fmt: skip

    manage("create_user", "alice", "--password", "secret-of-alice")
    token = manage("create_token", "alice")
    assert len(token.split()) == 1


def test_two_instances_stand_side_by_side_and_stop_apart(instance: LaunchedInstance, tmp_path: Path) -> None:
    other = LaunchedInstance(tmp_path).start()
    processes = other.descendants()
    assert is_serving(other.address)
    assert is_serving(instance.address)
    assert other.stop() == 0
    assert have_ended(processes)
    assert is_serving(instance.address)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_however_the_launcher_ends(tmp_path: Path, number: signal.Signals) -> None:
    instance = LaunchedInstance(tmp_path).start()
    processes = instance.descendants()
    instance.process.send_signal(number)
    status = instance.process.wait(PATIENCE_S)
    assert status == (-signal.SIGKILL if number == signal.SIGKILL else 0)
    assert have_ended(processes)
    assert not is_serving(instance.address)


def test_after_kill_9_the_next_start_works_at_once(tmp_path: Path) -> None:
    instance = LaunchedInstance(tmp_path).start()
    kept = instance.stored_environment()
    instance.process.kill()
    instance.process.wait()
    instance.output.unlink()
    instance.start()
    assert instance.stored_environment()["SECRET_KEY"] == kept["SECRET_KEY"]
    assert is_answering(instance, "postgres")
    assert instance.stop() == 0


def test_servers_left_by_a_killed_launcher_and_guard_are_stopped_by_the_next_start(tmp_path: Path) -> None:
    instance = LaunchedInstance(tmp_path).start()
    launcher, orphans = psutil.Process(instance.process.pid), instance.descendants()
    # While suspended, neither can react to the end of the other.
    for process in (launcher, instance.children("orphan_guard.py")[0]):
        process.suspend()
    instance.children("orphan_guard.py")[0].kill()
    launcher.kill()
    instance.process.wait()
    servers = [process for process in orphans if process.is_running()]
    instance.port = LaunchedInstance(tmp_path).port
    instance.output.unlink()
    instance.start()
    postgres = [process for process in servers if process.is_running() and process.name() == "postgres"]
    assert have_ended(postgres)
    assert instance.stop() == 0
    for process in orphans:
        if process.is_running():
            process.kill()


def test_the_launcher_ends_with_the_make_that_started_it(tmp_path: Path) -> None:
    instance = LaunchedInstance(tmp_path)
    # A shell that waits for its child, as make does.
    shell = instance.launch(wrapper=("/bin/sh", "-c", '"$@"; true', "sh"), arguments=("--follow-parent",))
    instance.wait_until_ready()
    processes = instance.descendants()
    shell.kill()
    shell.wait()
    assert have_ended(processes)


def test_ctrl_c_during_the_start_stops_it(tmp_path: Path) -> None:
    instance = LaunchedInstance(tmp_path)
    process = instance.launch()
    instance.wait_until(lambda: bool(instance.children("postgres", "-D")), "the first service")
    processes = instance.descendants()
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE_S) == 0
    assert have_ended(processes)
