"""The start under the conditions of other machines: private homes, other users, strict umasks, read-only code.

Each test runs real processes until the page answers, ends them, and checks that nothing is left running and that
no mode or owner has changed outside DATA_DIR.
"""

import os
import pwd
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.foreign_machine import IS_ROOT, ForeignMachine, Instance, User, copy_code, give, running
from tests.instance import ROOT

pytestmark = [pytest.mark.fault, pytest.mark.timeout(600)]
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can start processes of other users")
NAMELESS_ID = next(
    uid for uid in range(43210, 60000) if uid not in {entry.pw_uid for entry in pwd.getpwall()}
)

# Environment variables that pip, uv and npm need to reach their registries.
NETWORK_SETTING = re.compile(r"(?i)pip_|uv_|npm_config_|ssl_cert|node_extra_ca|(https?|no|all)_proxy$")


def can_unshare() -> bool:
    """Whether this process may make a user namespace, in which root is the only user id."""
    command = ["unshare", "-r", "true"]
    return bool(shutil.which("unshare")) and subprocess.run(command, check=False).returncode == 0


@pytest.fixture(scope="module")
def machine() -> Iterator[ForeignMachine]:
    machine = ForeignMachine()
    yield machine
    machine.remove()


@pytest.fixture(scope="module")
def ordinary_user(machine: ForeignMachine) -> User:
    return machine.make_user() or pytest.skip("NOT TESTED as an ordinary user: root cannot add one here")


def test_a_private_home(machine: ForeignMachine) -> None:
    """As root, the server's user id can enter neither the folders of the data nor those of the programs.

    The second start finds a cluster that another version has made for another user id.
    """
    home = machine.make_folder("private home")
    code = machine.make_code(home / "turnwire", machine.make_venv(home / "venv"))
    instance = Instance(code, machine.own_user)
    with running(instance):
        server = instance.postgres()
        if IS_ROOT:
            assert 0 not in (*server.uids(), *server.gids(), *groups_of(server.pid))
            assert "turnwire-programs" in server.exe()
    made_ns = (instance.cluster / "PG_VERSION").stat().st_mtime_ns
    earlier = give(instance.cluster, User(NAMELESS_ID, NAMELESS_ID, home)).stat().st_uid
    with running(instance):
        assert instance.postgres().uids().effective == instance.cluster.stat().st_uid == earlier
        assert (instance.cluster / "PG_VERSION").stat().st_mtime_ns == made_ns


def test_a_path_with_spaces(machine: ForeignMachine) -> None:
    folder = machine.make_folder("a path", mode=0o755)
    with running(Instance(machine.make_code(folder / "with spaces", machine.venv), machine.own_user)):
        pass


def test_an_ordinary_user(machine: ForeignMachine, ordinary_user: User) -> None:
    home = give(machine.make_folder("of a user"), ordinary_user)
    code = give(machine.make_code(home / "turnwire", machine.venv), ordinary_user)
    instance = Instance(code, ordinary_user, environment=machine.environment)
    with running(instance):
        assert instance.postgres().uids().effective == code.stat().st_uid == ordinary_user.uid


def test_read_only_code_with_its_data_elsewhere(machine: ForeignMachine, ordinary_user: User) -> None:
    """The set-up has been done by the owner of the code; make run only checks that."""
    code = copy_code(machine.folder / "read only")
    venv = machine.make_venv(code / ".venv")
    data = give(machine.make_folder("data of a user"), ordinary_user)
    make_run = ["make", "run", f"PYTHON={venv}/bin/python"]
    instance = Instance(code, ordinary_user, data, command=make_run, environment=machine.environment)
    with machine.read_only(code):
        status, output = instance.run_to_end()
    assert status != 0
    assert f"setup: {code} cannot be written" in output
    (code / "node_modules").symlink_to(machine.modules)
    for stamp in (ROOT / ".venv").glob("*.stamp"):
        shutil.copyfile(stamp, code / stamp.relative_to(ROOT))
    before = set(code.rglob("*"))
    with machine.read_only(code), running(instance):
        pass
    assert set(code.rglob("*")) == before


def test_a_umask_of_077(machine: ForeignMachine) -> None:
    code = machine.make_code(machine.folder / "umask 077", machine.venv)
    subprocess.run(["chmod", "-R", "go-rwx", code], check=True)
    with running(Instance(code, machine.own_user, umask=0o077)):
        pass


@needs_root
def test_a_user_id_without_a_name(machine: ForeignMachine) -> None:
    """As in containers; such a user has no home directory either."""
    user = User(NAMELESS_ID, NAMELESS_ID, Path("/nonexistent"))
    code = machine.make_code(machine.folder / "container", machine.venv)
    data = give(machine.make_folder("volume"), user)
    instance = Instance(code, user, data, environment=machine.environment)
    with running(instance):
        assert instance.postgres().uids().effective == user.uid
    assert not list(data.glob("turnwire-initdb-*"))


def test_two_first_starts_side_by_side(machine: ForeignMachine) -> None:
    home = machine.make_folder("twice")
    code = machine.make_code(home / "turnwire", machine.venv)
    with running(*(Instance(code, machine.own_user, home / name) for name in ("one", "two"))):
        pass


@pytest.mark.skipif(not can_unshare(), reason="no user namespaces here")
def test_where_root_is_the_only_user_id_one_line_says_what_to_do(machine: ForeignMachine) -> None:
    code = machine.make_code(machine.make_folder("namespace") / "turnwire", machine.venv)
    instance = Instance(code, machine.own_user)
    instance.command = ["unshare", "-r", str(code / ".venv/bin/python"), "-m", "config.launcher"]
    status, output = instance.run_to_end()
    assert status == 1
    assert re.search(
        r"cannot start: Postgres does not run as root, .*: start as an ordinary user, or set DATABASE_URL",
        output,
    )


def test_make_run_does_all_the_set_up(machine: ForeignMachine) -> None:
    """In a private home with a space in its name, under a umask of 077, with a virtual environment of its own."""
    home = machine.make_folder("new home")
    cache = {"PIP_CACHE_DIR": str(Path.home() / ".cache" / "pip")}
    network = {name: value for name, value in os.environ.items() if NETWORK_SETTING.match(name)}
    instance = Instance(
        copy_code(home / "turn wire"),
        User(os.geteuid(), os.getegid(), home),
        umask=0o077,
        command=["make", "run", f"PYTHON={sys._base_executable}"],
        environment={**cache, **network},
    )
    with running(instance, timeout_s=500):
        pass


def groups_of(pid: int) -> list[int]:
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return [int(group) for line in lines if line.startswith("Groups:") for group in line.split()[1:]]
