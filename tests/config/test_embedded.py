"""The embedded servers: their accounts, programs, addresses and what an earlier start left."""

import os
import signal
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config import embedded, postgres_programs
from config.postgres_programs import UNNAMED_ID, Account, account_of
from tests.services import Services

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs Postgres under another user id")
# No user of this machine has it.
STRANGER = Account(54_321, 54_321)


@pytest.fixture
def no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a system that has no account for Postgres and no useradd."""
    monkeypatch.setattr(postgres_programs, "ACCOUNT_NAME", "turnwire-has-no-such-user")
    monkeypatch.setenv("PATH", "/nonexistent")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def make_cluster(directory: Path, owner: Account) -> Path:
    """As much of a cluster as decides about its account."""
    (directory / "base").mkdir(parents=True)
    (directory / "PG_VERSION").write_text("18\n")
    owner.take_over(directory)
    return directory


def test_a_port_is_kept_for_the_next_start(tmp_path: Path) -> None:
    port = embedded.kept_port(tmp_path / "port")
    assert embedded.kept_port(tmp_path / "port") == port


def test_a_kept_port_that_somebody_else_took_is_replaced(tmp_path: Path) -> None:
    port = embedded.kept_port(tmp_path / "port")
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        assert embedded.kept_port(tmp_path / "port") != port


def test_a_port_file_without_a_number_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "port").write_text("")
    assert embedded.kept_port(tmp_path / "port") == int((tmp_path / "port").read_text())


def test_a_stored_secret_stays_the_same_and_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    secret = embedded.stored_secret(tmp_path / "secret", 24)
    assert len(secret) >= 24
    assert embedded.stored_secret(tmp_path / "secret", 24) == secret
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_a_path_too_long_for_a_socket_gets_a_short_folder_of_its_own(tmp_path: Path) -> None:
    directory = tmp_path / ("long" * 30)
    directory.mkdir()
    chosen = embedded._socket_dir(directory, None)
    try:
        assert chosen != directory
        assert embedded._socket_dir(directory, None) == chosen
        assert chosen.stat().st_mode & 0o777 == 0o700
        with socket.socket(socket.AF_UNIX) as probe:
            probe.bind(str(chosen / ".s.PGSQL.5432"))
        (chosen / ".s.PGSQL.5432").unlink()
    finally:
        chosen.rmdir()


def test_a_short_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    directory = tmp_path / ("long" * 30)
    directory.mkdir()
    chosen = embedded._socket_dir(directory, None)
    chosen.rmdir()
    chosen.symlink_to(tmp_path)
    try:
        with pytest.raises(RuntimeError, match="somebody else"):
            embedded._socket_dir(directory, None)
    finally:
        chosen.unlink()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("not a number\n", id="no number"),
        pytest.param(f"{os.getpid()}\n", id="this process"),
        pytest.param("999999999\n", id="nobody"),
    ],
)
def test_a_pid_file_that_does_not_name_our_server_is_only_removed(tmp_path: Path, text: str) -> None:
    postgres, valkey = tmp_path / "postgres", tmp_path / "valkey"
    for directory, name in ((postgres, "postmaster.pid"), (valkey, "valkey.pid")):
        directory.mkdir()
        (directory / name).write_text(text)
    embedded.stop_leftovers(postgres, valkey)
    assert list(postgres.iterdir()) == list(valkey.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root runs Postgres under another user id")
def test_an_ordinary_user_runs_postgres_itself(tmp_path: Path) -> None:
    assert account_of(tmp_path / "postgres") is None


@needs_root
def test_an_existing_cluster_is_run_by_its_owner(tmp_path: Path) -> None:
    assert account_of(make_cluster(tmp_path / "postgres", STRANGER)) == STRANGER


@needs_root
def test_a_cluster_that_root_owns_is_handed_over_without_following_links(tmp_path: Path) -> None:
    other = tmp_path / "of somebody else"
    other.touch()
    cluster = make_cluster(tmp_path / "postgres", Account(0, 0))
    (cluster / "base" / "link").symlink_to(other)
    account = account_of(cluster)
    assert account == account_of(tmp_path / "new")
    assert account is not None
    assert account.uid != 0
    assert {path.lstat().st_uid for path in (cluster, *cluster.rglob("*"))} == {account.uid}
    assert other.stat().st_uid == 0


@needs_root
@pytest.mark.usefixtures("no_account")
def test_where_no_account_can_be_made_a_user_id_without_a_name_runs_postgres(tmp_path: Path) -> None:
    """A whole cluster: initdb and the server look up names differently."""
    tmp_path.chmod(0o700)
    server = embedded.postgres(tmp_path / "postgres", durable=False)
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(server.command, stdout=log, stderr=log)
    try:
        embedded.wait_for_postgres(server)
        with psycopg.connect(server.url) as connection:
            roles = connection.execute("SELECT rolname FROM pg_roles WHERE rolcanlogin").fetchall()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
    assert roles == [("postgres",)]
    assert (tmp_path / "postgres").stat().st_uid == UNNAMED_ID
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


@needs_root
def test_without_proc_a_closed_folder_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On macOS a directory has no name but its path."""
    monkeypatch.setattr(embedded, "WORKING_DIRECTORY", Path("/nonexistent"))
    assert embedded._data_path(Path("/var/postgres"), STRANGER) == "/var/postgres"
    tmp_path.chmod(0o700)
    with pytest.raises(RuntimeError, match=r"user id 54321, which cannot enter .*: set DATA_DIR to a folder"):
        embedded._data_path(tmp_path / "postgres", STRANGER)


def test_a_missing_user_entry_is_explained() -> None:
    told = embedded._explained("initdb: could not look up effective user ID 54321: user does not exist\n")
    assert told.endswith(
        "user does not exist: add this user id to /etc/passwd, or set DATABASE_URL to another Postgres"
    )
    assert embedded._explained("one\ntwo\n") == "one; two"


def test_a_command_that_cannot_be_run_as_another_user_is_one_line(tmp_path: Path) -> None:
    command = Account(os.geteuid(), os.getegid()).command(["/nonexistent"], tmp_path)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 77
    assert done.stderr.startswith("cannot run /nonexistent as user id ")
    assert len(done.stderr.splitlines()) == 1


@needs_root
def test_the_programs_are_copied_once_where_the_account_cannot_reach_them(
    tmp_path: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_programs, "_is_open_to_all", lambda _package: False)
    # pytest's folders are closed to other users, so the copy in the first one fails when it is tried.
    monkeypatch.setattr(postgres_programs, "COPIES", tmp_path / "programs")
    monkeypatch.setattr(tempfile, "tempdir", str(open_folder))
    before = os.umask(0o077)
    try:
        programs = postgres_programs.programs_for(STRANGER, tmp_path)
    finally:
        os.umask(before)
    assert (tmp_path / "programs").exists()
    assert open_folder in programs.parents
    made_at = programs.stat().st_ctime_ns
    assert postgres_programs.programs_for(STRANGER, tmp_path) == programs
    assert programs.stat().st_ctime_ns == made_at


@pytest.mark.parametrize("kind", ["writable by all", "a link"])
def test_programs_are_not_taken_from_a_folder_that_others_can_change(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "programs"
    if kind == "a link":
        (tmp_path / "elsewhere").mkdir()
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    with pytest.raises(PermissionError, match="not this user's alone"):
        postgres_programs._copy_in(folder)


def test_the_log_holds_no_statement_no_parameter_and_no_row(services: Services) -> None:
    log = services.directory / "postgres.log"
    with psycopg.connect(services.postgres_url, autocommit=True) as client:
        client.execute("CREATE TEMPORARY TABLE row (hash text UNIQUE, mark text CHECK (mark <> 'bad'))")
        client.execute("INSERT INTO row VALUES ('canary-stored', 'good')")
        for statement, values in {
            "INSERT INTO row VALUES ('canary-stored', 'canary-literal')": None,
            "INSERT INTO row VALUES (%s, %s)": ("canary-parameter", "bad"),
            "SELECT 'canary-syntax' FROM": None,
            "SELECT pg_sleep(0), 'canary-missing' FROM nowhere": None,
        }.items():
            with pytest.raises(psycopg.Error):
                client.execute(statement, values)
        client.execute("DO $$ BEGIN RAISE LOG 'written so far'; END $$")
    text = log.read_text(errors="replace")
    assert "written so far" in text
    assert "canary" not in text
