"""The launcher with real processes: start, refusal, restart, stop, kill."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from tests.house import PATIENCE_S, House, answers, gone

pytestmark = [pytest.mark.fault, pytest.mark.timeout(400)]

# Process name -> words of its command line
PROCESSES = {
    "web": ("uvicorn",),
    "llm": ("celery", "-Q llm"),
    "sweeper": ("manage.py", "sweep_runs"),
    "compression": ("celery", "-Q compression"),
    "valkey": ("valkey-server",),
    "postgres": ("postgres", "-D"),
    "demo": ("-m demo",),
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    house = House(tmp_path_factory.mktemp("house")).start()
    yield house
    house.stop()


def is_answering(house: House, name: str) -> bool:
    """Whether the service answers at the address that the start announced."""
    try:
        match name:
            case "web":
                return answers(house.address)
            case "demo":
                return answers(house.kept()["LLM_BASE_URL"] + "/models")
            case "valkey":
                with redis.Redis.from_url(house.kept()["REDIS_URL"]) as client:
                    return bool(client.ping())
            case "postgres":
                with psycopg.connect(house.kept()["DATABASE_URL"], connect_timeout=5) as connection:
                    return connection.execute("SELECT count(*) FROM auth_user").fetchone() is not None
            case _:
                return len(house.children(*PROCESSES[name])) == (2 if name == "llm" else 1)
    except (redis.RedisError, psycopg.Error):
        return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("name", PROCESSES)
def test_a_process_that_ends_comes_back_at_the_same_address(
    house: House, name: str, number: signal.Signals
) -> None:
    house.wait_until(lambda: is_answering(house, name), f"{name} before")
    before = {process.pid for process in house.children(*PROCESSES[name])}
    victim = next(
        process for process in house.children(*PROCESSES[name]) if process.ppid() == house.process.pid
    )
    # At SIGTERM, Postgres waits for its clients; at SIGINT it does not.
    victim.send_signal(signal.SIGINT if name == "postgres" and number == signal.SIGTERM else number)

    def replaced() -> bool:
        now = {process.pid for process in house.children(*PROCESSES[name])}
        return victim.pid not in now and bool(now - before) and is_answering(house, name)

    house.wait_until(replaced, f"{name} after {number.name}")


def test_a_killed_guard_is_replaced(house: House) -> None:
    guard = house.children("orphan_guard.py")[0]
    guard.kill()
    house.wait_until(
        lambda: [process.pid for process in house.children("orphan_guard.py")] not in ([], [guard.pid]),
        "a new guard",
    )


def test_every_process_is_a_descendant_in_a_group_of_its_own(house: House) -> None:
    for words in PROCESSES.values():
        for process in house.children(*words):
            if process.ppid() == house.process.pid:
                assert os.getpgid(process.pid) == process.pid
                assert os.getsid(process.pid) == os.getsid(house.process.pid), "not daemonised"


def test_a_second_start_says_so_in_one_line_and_leaves_the_first_alone(house: House, tmp_path: Path) -> None:
    before = {process.pid for process in house.children("-m")}
    kept = house.kept()
    status, said = House(tmp_path, data=house.data).run()
    assert status != 0
    assert said.startswith(f"already running at {house.address} ")
    assert len(said.splitlines()) == 1
    assert {process.pid for process in house.children("-m")} == before
    assert house.kept() == kept


def test_a_taken_port_is_one_clear_line(house: House, tmp_path: Path) -> None:
    status, said = House(tmp_path, port=house.port).run()
    assert status not in (0, None)
    assert said.startswith(f"PORT: {house.port} ")
    assert len(said.splitlines()) == 1


def test_manage_py_in_a_second_shell_uses_the_running_services(house: House) -> None:
    def manage(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=house.code, check=True, capture_output=True, text=True,
            env={name: value for name, value in house.environment().items() if name in ("PATH", "HOME", "DATA_DIR")},
        ).stdout  # fmt: skip

    manage("create_user", "alice", "--password", "secret-of-alice")
    token = manage("create_token", "alice")
    assert len(token.split()) == 1


def test_two_instances_stand_side_by_side_and_stop_apart(house: House, tmp_path: Path) -> None:
    other = House(tmp_path).start()
    processes = other.descendants()
    assert answers(other.address)
    assert answers(house.address)
    assert other.stop() == 0
    assert gone(processes)
    assert answers(house.address)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_however_the_launcher_ends(tmp_path: Path, number: signal.Signals) -> None:
    house = House(tmp_path).start()
    processes = house.descendants()
    house.process.send_signal(number)
    status = house.process.wait(PATIENCE_S)
    assert status == (-signal.SIGKILL if number == signal.SIGKILL else 0)
    assert gone(processes)
    assert not answers(house.address)


def test_after_kill_9_the_next_start_works_at_once(tmp_path: Path) -> None:
    house = House(tmp_path).start()
    kept = house.kept()
    house.process.kill()
    house.process.wait()
    house.output.unlink()
    house.start()
    assert house.kept()["SECRET_KEY"] == kept["SECRET_KEY"]
    assert is_answering(house, "postgres")
    assert house.stop() == 0


def test_servers_left_by_a_killed_launcher_and_guard_are_stopped_by_the_next_start(tmp_path: Path) -> None:
    house = House(tmp_path).start()
    launcher, orphans = psutil.Process(house.process.pid), house.descendants()
    # While suspended, neither can react to the end of the other.
    for process in (launcher, house.children("orphan_guard.py")[0]):
        process.suspend()
    house.children("orphan_guard.py")[0].kill()
    launcher.kill()
    house.process.wait()
    servers = [process for process in orphans if process.is_running()]
    house.port = House(tmp_path).port
    house.output.unlink()
    house.start()
    postgres = [process for process in servers if process.is_running() and process.name() == "postgres"]
    assert gone(postgres)
    assert house.stop() == 0
    for process in orphans:
        if process.is_running():
            process.kill()


def test_the_launcher_ends_with_the_make_that_started_it(tmp_path: Path) -> None:
    house = House(tmp_path)
    # A shell that waits for its child, as make does.
    shell = house.launch(wrapper=("/bin/sh", "-c", '"$@"; true', "sh"), arguments=("--follow-parent",))
    house.wait_until_ready()
    processes = house.descendants()
    shell.kill()
    shell.wait()
    assert gone(processes)


def test_ctrl_c_during_the_start_stops_it(tmp_path: Path) -> None:
    house = House(tmp_path)
    process = house.launch()
    house.wait_until(lambda: bool(house.children("postgres", "-D")), "the first service")
    processes = house.descendants()
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE_S) == 0
    assert gone(processes)
