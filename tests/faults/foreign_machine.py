"""Makes, starts and ends instances of other users, in folders with other modes than this checkout's.

Each instance has its own copy of the code; most share one copy of this virtual environment.
"""

import compileall
import contextlib
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from config.postgres_programs import COPIES
from tests.instance import PATIENCE_S, ROOT, free_port, have_ended, is_serving
from tests.process_reaper import end_with_this_process

IS_ROOT = os.geteuid() == 0


@dataclass(frozen=True)
class User:
    """A user id, a group id and a home directory."""

    uid: int
    gid: int
    home: Path


@dataclass
class Instance:
    """A launcher and the conditions it runs under."""

    code: Path
    user: User
    # None: the default, in the code.
    data: Path | None = None
    umask: int = 0o022
    # None: the launcher, run by the virtual environment in the code.
    command: list[str] | None = None
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        self.address = f"http://127.0.0.1:{self.port}"
        self.cluster = (self.data or self.code / ".data") / "postgres"

    @property
    def output(self) -> str:
        return os.pread(self._output.fileno(), 1_000_000, 0).decode(errors="replace")

    def launch(self) -> None:
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  closed with the instance
        self.process = subprocess.Popen(
            **self._popen_arguments(), stdout=self._output, stderr=self._output, start_new_session=True
        )
        end_with_this_process(self.process)

    def run_to_end(self) -> tuple[int, str]:
        """For a start that ends by itself: status and output."""
        done = subprocess.run(
            **self._popen_arguments(), check=False, capture_output=True, text=True, timeout=PATIENCE_S
        )
        return done.returncode, done.stdout + done.stderr

    def wait_until_it_answers(self, timeout_s: float) -> None:
        limit = time.monotonic() + timeout_s
        while not ("ready: " in self.output and is_serving(self.address)):
            if self.process.poll() is not None or time.monotonic() > limit:
                raise AssertionError(f"the page does not answer:\n{self.output[-6000:]}")
            time.sleep(0.05)

    def check_static_files(self) -> None:
        """The page's style sheet has a hash in its name and is compressed: the start has collected the static files."""
        with urllib.request.urlopen(f"{self.address}/login/", timeout=PATIENCE_S) as answer:
            found = re.search(r"/static/chat/base\.[0-9A-Z]{8}\.css", answer.read().decode())
        assert found
        request = urllib.request.Request(self.address + found[0], headers={"Accept-Encoding": "br"})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            assert answer.headers["Content-Encoding"] == "br"

    def postgres(self) -> psutil.Process:
        return next(child for child in self._descendants() if child.name() == "postgres")

    def stop(self) -> None:
        """End the process with SIGTERM and check that it leaves nothing running."""
        processes = self._descendants()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE_S)
        assert have_ended(processes)
        assert not is_serving(self.address)

    def close(self) -> None:
        """Kill the process if a failed test has left it running; its children end with it."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._output.close()

    def _popen_arguments(self) -> dict[str, Any]:
        values = {"PATH": os.environ["PATH"], "HOME": str(self.user.home), "PORT": str(self.port)}
        values |= {"DATA_DIR": str(self.data)} if self.data else {}
        user = {"user": self.user.uid, "group": self.user.gid, "extra_groups": []} if IS_ROOT else {}
        return {
            "args": self.command or [str(self.code / ".venv/bin/python"), "-m", "config.launcher"],
            "cwd": self.code,
            "env": {**values, "DRAIN_GRACE": "1", "LLM_WORKERS": "1", **self.environment},
            "stdin": subprocess.DEVNULL,
            "umask": self.umask,
            **user,
        }

    def _descendants(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)


class ForeignMachine:
    """A folder open to all users, with what all can run (Python packages, front-end modules), and the users made for a test."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="turnwire-start-"))
        self.folder.chmod(0o755)
        self.own_user = User(os.geteuid(), os.getegid(), self.folder)
        self.venv = self.make_venv(self.folder / "venv")
        self.modules = self.folder / "node_modules"
        copy_for_all(ROOT / "node_modules", self.modules)
        # A copied interpreter may look for its shared library by its old path, which other users cannot reach.
        library = self.folder / "python" / "lib"
        self.environment = {"LD_LIBRARY_PATH": str(library)} if library.exists() else {}
        self._names: list[str] = []
        self._copies_before = {COPIES, *COPIES.glob("*")} if COPIES.exists() else set()

    def make_venv(self, target: Path) -> Path:
        """A virtual environment with the packages of this one, linked or copied."""
        interpreter = self._interpreter()
        (target / "bin").mkdir(parents=True)
        (target / "bin" / "python").symlink_to(interpreter)
        (target / "pyvenv.cfg").write_text(f"home = {interpreter.parent}\n")
        packages = Path(next(path for path in sys.path if path.endswith("site-packages")))
        copy_for_all(packages, target / packages.relative_to(sys.prefix))
        return target

    def make_code(self, target: Path, venv: Path) -> Path:
        """A copy of the code that uses `venv`, and the installed front-end modules."""
        copy_code(target)
        (target / "node_modules").symlink_to(self.modules)
        (target / ".venv").symlink_to(venv)
        return target

    def make_folder(self, name: str, mode: int = 0o700) -> Path:
        folder = self.folder / name
        folder.mkdir()
        folder.chmod(mode)
        return folder

    def make_user(self) -> User | None:
        """An ordinary user: this process's own, or a new one; None if root cannot add one."""
        if not IS_ROOT:
            return self.own_user
        name = f"turnwire{os.getpid()}"
        command = ["useradd", "--user-group", "--create-home", "--home-dir", str(self.folder / name), name]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        self._names.append(name)
        entry = pwd.getpwnam(name)
        Path(entry.pw_dir).chmod(0o700)
        return User(entry.pw_uid, entry.pw_gid, Path(entry.pw_dir))

    @contextlib.contextmanager
    def read_only(self, code: Path) -> Iterator[None]:
        """While the context is open, only root can write in the folders of `code`."""
        folders = [Path(folder) for folder, _, _ in os.walk(code)]
        for folder in folders:
            folder.chmod(0o555)
        yield
        for folder in folders:
            folder.chmod(0o755)

    def remove(self) -> None:
        for name in self._names:
            subprocess.run(["userdel", name], check=True, capture_output=True)
        for copy in {*COPIES.glob("*"), COPIES} - self._copies_before:
            shutil.rmtree(copy, ignore_errors=True)
        shutil.rmtree(self.folder)

    def _interpreter(self) -> Path:
        """The Python behind this virtual environment, copied if other users cannot reach it."""
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        base = Path(sys.base_prefix)
        if is_open_to_all(base / "lib" / version):
            return base / "bin" / version
        copy = self.folder / "python"
        if not copy.exists():
            ignored = shutil.ignore_patterns("test", "site-packages", "config-*")
            copy_for_all(base / "lib" / version, copy / "lib" / version, ignored)
            (copy / "bin").mkdir()
            shutil.copy(base / "bin" / version, copy / "bin")
            for library in (base / "lib").glob("libpython*"):
                shutil.copy(library, copy / "lib")
        return copy / "bin" / version


def copy_code(target: Path) -> Path:
    """The checkout without what a set-up or a start adds.

    Python's caches save each start some seconds. They are brought up to date: a start would replace a stale one, with the mode
    that its umask gives.
    """
    ignored = shutil.ignore_patterns(
        ".venv", ".git", ".data", "node_modules", ".*_cache", ".setup.lock", "results"
    )
    copy = Path(shutil.copytree(ROOT, target, ignore=ignored))
    compileall.compile_dir(copy, quiet=1)
    return copy


def give(path: Path, user: User) -> Path:
    """Make `user` the owner of `path` and of all in it, if this process may."""
    if IS_ROOT:
        subprocess.run(["chown", "-R", f"{user.uid}:{user.gid}", path], check=True)
    return path


@contextlib.contextmanager
def running(*instances: Instance, timeout_s: float = PATIENCE_S) -> Iterator[None]:
    """Launch all at once and wait for their pages; then stop them and check that no mode or owner has changed."""
    before = {path: owner_and_mode(path) for one in instances for path in foreign_paths(one)}
    with contextlib.ExitStack() as cleanup:
        for one in instances:
            one.launch()
            cleanup.callback(one.close)
        for one in instances:
            one.wait_until_it_answers(timeout_s)
            one.check_static_files()
        yield
        for one in instances:
            one.stop()
    changed = {path: (was, now) for path, was in before.items() if (now := owner_and_mode(path)) != was}
    assert not changed, f"owner or mode changed: {changed}"


def foreign_paths(instance: Instance) -> Iterator[Path]:
    """Every path of the code and of its virtual environment, and the folders above them and above the data."""
    venv = (instance.code / ".venv").resolve()
    data = instance.data or instance.code / ".data"
    for root in (instance.code, venv):
        yield from (path for path in root.rglob("*") if data not in (path, *path.parents))
    for path in (instance.code, venv, data):
        yield from path.parents


def owner_and_mode(path: Path) -> tuple[int, int, int]:
    found = path.lstat()
    return found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)


def is_open_to_all(folder: Path) -> bool:
    return all(path.stat().st_mode & stat.S_IXOTH for path in (folder, *folder.parents))


def copy_for_all(source: Path, target: Path, ignored: Any = None) -> None:
    """Copy a tree so that every user can read it. Files that all can read are linked, and keep their modes."""

    def link_or_copy(file: str, copy: str) -> None:
        with contextlib.suppress(OSError):
            if Path(file).stat().st_mode & stat.S_IROTH:
                os.link(file, copy)
                return
        shutil.copyfile(file, copy)
        Path(copy).chmod(0o755)

    shutil.copytree(source, target, symlinks=True, ignore=ignored, copy_function=link_or_copy)
    for folder, _, _ in os.walk(target):
        Path(folder).chmod(0o755)
