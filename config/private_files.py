"""Keeps files of Turnwire from other users of the machine: private folders, and tighter modes for older files.

The launcher has the umask of whoever started it: with a stricter umask, Python would change the modes of compiled
modules beside the code. The servers that store data have the umask PRIVATE_UMASK (programs.py).
"""

import contextlib
import os
import stat
from pathlib import Path
from typing import Final

# Private folders and files of DATA_DIR, which may hold other files: these are not touched. Not listed: `postgres`,
# which Postgres keeps private itself; `static` and `programs`, which are public.
FOLDERS: Final = ("logs", "media", "model", "valkey")
FILES: Final = ("environment.json", "lock", "postgres.password", "secret_key", "secrets_key")
PRIVATE_UMASK: Final = stat.S_IRWXG | stat.S_IRWXO


def make_data_dir(directory: Path) -> None:
    """Make DATA_DIR if it is missing.
    If root starts this, Postgres runs under another user id, which may have to pass through the folder.
    """
    if not directory.exists():
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)
        if os.geteuid() == 0:
            directory.chmod(0o711)


def close_to_others(directory: Path) -> None:
    """Make the private folders, and close their contents to others: only files of this user, never through a link."""
    for name in (*FOLDERS, *FILES):
        path = directory / name
        if name in FOLDERS:
            path.mkdir(mode=0o700, exist_ok=True)
        _close(path)
        if path.is_dir() and not path.is_symlink():
            for folder, folders, files in os.walk(path):
                for entry in folders + files:
                    _close(Path(folder, entry))


def _close(path: Path) -> None:
    # A file may vanish, and one of another user cannot be changed.
    with contextlib.suppress(OSError):
        found = path.lstat()
        is_ours = found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode)
        if is_ours and found.st_mode & PRIVATE_UMASK:
            path.chmod(stat.S_IMODE(found.st_mode) & ~PRIVATE_UMASK)
