"""The file of a backup: a tar with the dump of the database, the uploaded files and the generated secrets."""

import shutil
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

DUMP: Final = "database.dump"
# Names in DATA_DIR.
_FILES: Final = "media"
_SECRETS: Final = ("secret_key", "secrets_key")


def write(target: Path, dump: Path, data_dir: Path, *, with_files: bool) -> int:
    """Write the archive; return how many uploaded files it has. Files that are deleted meanwhile are left out."""
    part = target.with_name(f"{target.name}.part")
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
    return (path for path in sorted((data_dir / _FILES).rglob("*")) if path.is_file())


def _add(archive: tarfile.TarFile, path: Path, name: str) -> bool:
    try:
        archive.add(path, name, recursive=False)
    except FileNotFoundError:
        return False
    return True


def read_dump(source: Path, target: Path) -> None:
    """Write the dump to `target`: the one in the archive, or `source` itself if it is no archive.
    Raises KeyError if the archive has none.
    """
    if not tarfile.is_tarfile(source):
        shutil.copyfile(source, target)
        return
    with tarfile.open(source) as archive:
        _copy(archive, archive.getmember(DUMP), target)


def read_files(source: Path, data_dir: Path) -> int:
    """Restore the uploaded files; return how many.
    Other files that are there stay: the sweeper deletes those that no row names.
    """
    return _read(source, data_dir, _is_upload)


def read_secrets(source: Path, data_dir: Path) -> int:
    return _read(source, data_dir, _SECRETS.__contains__)


def _is_upload(name: str) -> bool:
    first, *others = PurePosixPath(name).parts or ("",)
    return first == _FILES and bool(others) and ".." not in others


def _read(source: Path, data_dir: Path, is_wanted: Callable[[str], bool]) -> int:
    """Extract the regular files whose names are wanted, whoever made the archive; return how many."""
    if not tarfile.is_tarfile(source):
        return 0
    count = 0
    with tarfile.open(source) as archive:
        for member in archive:
            if member.isreg() and is_wanted(member.name):
                _copy(archive, member, data_dir / member.name)
                count += 1
    return count


def _copy(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    content = archive.extractfile(member)
    assert content is not None  # noqa: S101  it is a regular file
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    with part.open("wb") as file:
        shutil.copyfileobj(content, file)
    part.replace(target)
