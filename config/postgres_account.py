"""The user id and group id of the embedded Postgres server, which refuses to run as root."""

import contextlib
import os
import pwd
import subprocess
import sys
from dataclasses import dataclass
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
