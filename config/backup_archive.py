"""The file of a backup: a tar with the dump of the database, the uploaded files and the generated secrets."""

import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

DUMP: Final = "database.dump"
# Names in DATA_DIR. All contents are stored under ids in this one folder (knowledge/files/blobs.py).
_FILES: Final = "media/files"
_SECRETS: Final = ("secret_key", "secrets_key")


class BackupUnreadable(Exception):
    """The file is no whole backup; the message says why."""


def write(target: Path, dump: Path, data_dir: Path, *, with_files: bool) -> int:
    """Write the archive; return how many uploaded files it has. Files that are deleted meanwhile are left out.
    It is written beside the dump, in whose folder other users can put nothing, and then renamed.
    """
    part = dump.with_name("archive.part")
    count = 0
    with tarfile.open(part, "w") as archive:
        archive.add(dump, DUMP)
        for name in _SECRETS:
            _add(archive, data_dir / name, name)
        for path in _stored(data_dir) if with_files else ():
            count += _add(archive, path, str(path.relative_to(data_dir)))
    part.replace(target)
    return count


def _stored(data_dir: Path) -> Iterator[Path]:
    return (path for path in sorted((data_dir / _FILES).glob("*")) if path.is_file())


def _add(archive: tarfile.TarFile, path: Path, name: str) -> bool:
    try:
        archive.add(path, name, recursive=False)
    except FileNotFoundError:
        return False
    return True


def unpack(source: Path, folder: Path) -> None:
    """Extract the regular files that a backup has, and nothing else, whoever made it.
    A file that is no archive is the dump itself. Raises BackupUnreadable, also if the archive is damaged or cut.
    """
    if not tarfile.is_tarfile(source):
        shutil.copyfile(source, folder / DUMP)
        return
    try:
        with tarfile.open(source) as archive:
            for member in archive:
                if member.isreg() and _is_wanted(member.name):
                    _copy(archive, member, folder / member.name)
            is_whole = _is_at_end(archive)
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise BackupUnreadable(f"cannot be read ({error})") from error
    if not is_whole:
        raise BackupUnreadable("is damaged or cut")
    if not (folder / DUMP).exists():
        raise BackupUnreadable("has no dump of a database")


def move(folder: Path, data_dir: Path) -> int:
    """Move what was unpacked, the dump aside, into DATA_DIR; return how many are uploaded files.
    The folder of uploaded files may be on another disk. Other files that are there stay: the sweeper deletes those that no row names.
    """
    uploaded = list(_stored(folder))
    for path in (*uploaded, *(folder / name for name in _SECRETS)):
        if path.exists():
            target = data_dir / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path, target)
    return len(uploaded)


def _is_wanted(name: str) -> bool:
    path = PurePosixPath(name)
    return name in (DUMP, *_SECRETS) or (str(path.parent) == _FILES and path.name != "..")


def _is_at_end(archive: tarfile.TarFile) -> bool:
    """Return whether nothing but the mark of the end is left. tarfile also stops at a header that is damaged or missing."""
    assert archive.fileobj is not None  # noqa: S101  it is open
    archive.fileobj.seek(archive.offset)
    left = 0
    while rest := archive.fileobj.read(1024 * 1024):
        if rest.strip(b"\0"):
            return False
        left += len(rest)
    return left >= tarfile.BLOCKSIZE


def _copy(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    content = archive.extractfile(member)
    assert content is not None  # noqa: S101  it is a regular file
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as file:
        shutil.copyfileobj(content, file)
