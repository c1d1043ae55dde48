"""Each process of the Procfile has limits on its database connections; migrations wait for no lock for long; other commands have none."""

import os
import shlex
import subprocess
import sys

import pytest
from django.db import connection

from config.database_timeouts import application_name, role_of, startup_options
from tests.instance import ROOT
from tests.stack import procfile

ROLES = {
    "web": "web",
    "llm": "llm",
    "sweeper": "sweeper",
    "compression": "compression",
    "ingest": "ingest",
}
SHOW = """
from django.db import connection
with connection.cursor() as cursor:
    for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
        print(cursor.execute("SHOW " + name).fetchone()[0])
"""
# A process that is started like this line of the Procfile, and asks Postgres for its limits instead.
PROBE = f"""
import sys
sys.argv = sys.argv[1:]
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
django.setup()
{SHOW}
"""


@pytest.mark.parametrize("line", ROLES)
@pytest.mark.pure
def test_every_process_of_the_procfile_has_a_role(line: str) -> None:
    assert procfile().keys() == ROLES.keys()
    assert role_of(shlex.split(procfile()[line])) == ROLES[line]


@pytest.mark.parametrize("command", [["manage.py", "shell"], ["pytest"], ["config.bootstrap"]])
@pytest.mark.pure
def test_commands_have_no_limits(command: list[str]) -> None:
    assert startup_options(command, 15) == ""


@pytest.mark.pure
def test_migrations_wait_for_no_lock_for_long_and_may_take_their_time() -> None:
    assert startup_options(["manage.py", "migrate"], 15) == "-c lock_timeout=5s"


@pytest.mark.pure
def test_no_seconds_switch_all_limits_off() -> None:
    """As for a pooler that refuses startup options."""
    assert startup_options(["manage.py", "sweep_runs"], 0) == ""


@pytest.mark.parametrize(
    ("line", "more", "limits"),
    [
        ("web", {}, ["15s", "5s", "30s"]),
        pytest.param("web", {"STATEMENT_TIMEOUT": "7"}, ["7s", "5s", "30s"], marks=pytest.mark.full),
        pytest.param("llm", {}, ["15s", "5s", "30s"], marks=pytest.mark.full),
        ("sweeper", {}, ["30s", "1s", "10s"]),
        pytest.param("compression", {}, ["1min", "5s", "1min"], marks=pytest.mark.full),
        pytest.param("ingest", {}, ["30s", "5s", "30s"], marks=pytest.mark.full),
        pytest.param("sweeper", {"STATEMENT_TIMEOUT": "0"}, ["0", "0", "0"], marks=pytest.mark.full),
    ],
)
def test_connections_carry_the_limits(services, line, more, limits):
    arguments = shlex.split(procfile()[line])
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments], cwd=ROOT, capture_output=True, text=True, check=False,
        env={"DEBUG": "1", "DATA_DIR": str(services.directory), "PATH": "", **services.environment(), **more},
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, limits), done.stderr


@pytest.mark.django_db
def test_postgres_is_told_which_process_a_connection_is_of() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW application_name")
        assert cursor.fetchone()[0].endswith(f" {os.getpid()}")


@pytest.mark.pure
def test_a_connection_is_named_after_role_and_process() -> None:
    assert application_name(["celery", "-A", "config", "worker"], 7) == "turnwire llm 7"
    assert application_name(["/code/manage.py", "shell"], 7) == "turnwire manage.py 7"


def test_what_the_address_of_the_database_says_counts_more(services):
    environment = services.environment()
    joint = "&" if "?" in environment["DATABASE_URL"] else "?"
    environment["DATABASE_URL"] += f"{joint}options=-c%20statement_timeout%3D3s"
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *shlex.split(procfile()["web"])],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={"DEBUG": "1", "DATA_DIR": str(services.directory), "PATH": "", **environment},
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()[0]) == (0, "3s"), done.stderr
