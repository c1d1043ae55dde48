"""A Postgres cluster whose databases are migrated, made once and copied by each process that starts Postgres.

The migrations take longer than most files of tests. The copies lie in a folder of the checkout, under the hash of all that
they are made from: the code of the product and the locked packages.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import psycopg

from config import embedded
from config.programs import ROOT
from tests.process_reaper import end_with_this_process

FOLDER: Final = ROOT / ".pytest_cache" / "clusters"
# Beside the one that processes use: Postgres copies no database that somebody is connected to.
TEMPLATE: Final = "migrated"
# Of every copy. Nobody else can enter the folders with the servers' sockets.
PASSWORD: Final = "of-the-tests"
STOP_S: Final = 60
FAILURES: Final = (OSError, RuntimeError, subprocess.SubprocessError, psycopg.Error)


def make() -> bool:
    """Make the cluster, unless it is there; whether it is. Where it cannot be made, each process migrates its own."""
    try:
        with _locked() as kept:
            return kept.exists()
    except FAILURES as error:
        print(f"no migrated cluster: {error}", file=sys.stderr)
        return False


def copy_to(directory: Path) -> bool:
    """Put a copy at `directory`; whether that was possible. If not, Postgres makes an empty cluster there."""
    part = directory.with_name("copy")
    try:
        with _locked() as kept:
            shutil.copytree(kept, part)
        part.rename(directory)
    except FAILURES as error:
        print(f"no migrated cluster: {error}", file=sys.stderr)
        shutil.rmtree(part, ignore_errors=True)
        return False
    return True


@contextlib.contextmanager
def _locked() -> Iterator[Path]:
    """The cluster, made if need be, for one process at a time. The lock of one that is killed is free."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = FOLDER / _key()
        if not kept.exists():
            for other in FOLDER.iterdir():
                if other.is_dir():
                    shutil.rmtree(other)
            _make(kept)
        yield kept


@cache
def _key() -> str:
    packages = sorted(each.parent for each in ROOT.glob("*/__init__.py") if each.parent.name != "tests")
    sources = [source for package in packages for source in sorted(package.rglob("*.py"))]
    digest = hashlib.sha256(f"{sys.version} {sys.platform} {os.geteuid()}".encode())
    for source in (Path(__file__), ROOT / "requirements.lock", *sources):
        digest.update(b"%s %s" % (os.fsencode(source.relative_to(ROOT)), source.read_bytes()))
    return digest.hexdigest()[:16]


def _make(kept: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="turnwire-tests-") as name:
        directory = Path(name) / "postgres"
        (Path(name) / "postgres.password").write_text(PASSWORD, encoding="utf-8")
        with _running(embedded.postgres(directory, durable=False)) as url:
            _migrate(url, name)
        part = kept.with_name("part")
        shutil.copytree(directory, part, ignore=shutil.ignore_patterns("postmaster.*"))
        part.rename(kept)


@contextlib.contextmanager
def _running(server: embedded.Server) -> Iterator[str]:
    """Its URL. On exit it has ended in such a way that its files need no recovery. Raises RuntimeError."""
    process = subprocess.Popen(
        server.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        cwd="/", start_new_session=True,
    )  # fmt: skip
    end_with_this_process(process)
    try:
        embedded.wait_for_postgres(server)
        yield server.url
        process.send_signal(signal.SIGINT)
        if status := process.wait(STOP_S):
            raise RuntimeError(f"Postgres ended with status {status}")
    finally:
        process.kill()
        process.wait()


def _migrate(url: str, data_dir: str) -> None:
    environment = {"DEBUG": "1", "DATA_DIR": data_dir, "DATABASE_URL": url}
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity=0"],
        cwd=ROOT, env=os.environ | environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr)
    with psycopg.connect(url.replace(f"/{embedded.DATABASE}?", "/postgres?"), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{TEMPLATE}" TEMPLATE "{embedded.DATABASE}"')
