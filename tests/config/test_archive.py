"""What is in the file of a backup, and what of a file is read."""

import io
import tarfile
from pathlib import Path

import pytest

from config import backup_archive

pytestmark = pytest.mark.pure


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "media" / "files").mkdir(parents=True)
    (folder / "media" / "files" / "one").write_bytes(b"Tides")
    (folder / "secret_key").write_text("a secret", encoding="utf-8")
    (folder / "lock").write_text("not ours", encoding="utf-8")
    return folder


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    file = tmp_path / "dump"
    file.write_bytes(b"PGDMP")
    return file


def test_what_is_written_is_read_again(data: Path, dump: Path, tmp_path: Path) -> None:
    assert backup_archive.write(tmp_path / "backup.tar", dump, data, with_files=True) == 1
    other = tmp_path / "other"
    backup_archive.read_dump(tmp_path / "backup.tar", other / "dump")
    assert backup_archive.read_files(tmp_path / "backup.tar", other) == 1
    assert not (other / "secret_key").exists()
    assert backup_archive.read_secrets(tmp_path / "backup.tar", other) == 1
    found = {str(path.relative_to(other)): path.read_bytes() for path in other.rglob("*") if path.is_file()}
    assert found == {"dump": b"PGDMP", "media/files/one": b"Tides", "secret_key": b"a secret"}


def test_files_can_be_left_out(data: Path, dump: Path, tmp_path: Path) -> None:
    assert backup_archive.write(tmp_path / "backup.tar", dump, data, with_files=False) == 0
    assert backup_archive.read_files(tmp_path / "backup.tar", tmp_path / "other") == 0


def test_a_dump_of_an_earlier_version_is_read_as_it_is(dump: Path, tmp_path: Path) -> None:
    backup_archive.read_dump(dump, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"PGDMP"
    assert (
        backup_archive.read_files(dump, tmp_path / "other")
        == backup_archive.read_secrets(dump, tmp_path / "other")
        == 0
    )


@pytest.mark.parametrize("name", ["media/../../outside", "../outside", "/outside", "lock", "media"])
def test_nothing_is_written_elsewhere(name: str, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "backup.tar", "w") as made:
        member = tarfile.TarInfo(name)
        member.size = 4
        made.addfile(member, io.BytesIO(b"evil"))
        link = tarfile.TarInfo("media/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(link)
    assert backup_archive.read_files(tmp_path / "backup.tar", tmp_path / "data" / "here") == 0
    assert not (tmp_path / "data").exists()
    with pytest.raises(KeyError):
        backup_archive.read_dump(tmp_path / "backup.tar", tmp_path / "dump")
