"""What is in the file of a backup, and what of a file is read."""

import io
import tarfile
import tempfile
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


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "target").mkdir()
    return tmp_path / "target"


@pytest.fixture
def backup(data: Path, dump: Path, tmp_path: Path) -> Path:
    backup_archive.write(tmp_path / "backup.tar", dump, data, with_files=True)
    return tmp_path / "backup.tar"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_written_is_read_again(backup: Path, target: Path, tmp_path: Path) -> None:
    backup_archive.unpack(backup, target)
    files = {"media/files/one": b"Tides", "secret_key": b"a secret"}
    assert contents(target) == files | {"database.dump": b"PGDMP"}
    assert backup_archive.move(target, tmp_path / "other") == 1
    assert contents(tmp_path / "other") == files


def test_uploaded_files_go_to_another_disk(backup: Path, target: Path, tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    if not memory.exists() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is one disk")
    with tempfile.TemporaryDirectory(dir=memory) as other_disk:
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "media").symlink_to(other_disk)
        backup_archive.unpack(backup, target)
        backup_archive.move(target, tmp_path / "other")
        assert contents(Path(other_disk)) == {"files/one": b"Tides"}


def test_files_can_be_left_out(data: Path, dump: Path, target: Path, tmp_path: Path) -> None:
    assert backup_archive.write(tmp_path / "backup.tar", dump, data, with_files=False) == 0
    backup_archive.unpack(tmp_path / "backup.tar", target)
    assert set(contents(target)) == {"database.dump", "secret_key"}


def test_nobody_is_given_the_archive_by_a_file_put_in_its_way(data: Path, dump: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shared by all"
    folder.mkdir()
    (folder / "backup.tar.part").symlink_to(tmp_path / "theirs")
    backup_archive.write(folder / "backup.tar", dump, data, with_files=True)
    assert not (tmp_path / "theirs").exists()


def test_a_dump_of_an_earlier_version_is_read_as_it_is(dump: Path, target: Path, tmp_path: Path) -> None:
    backup_archive.unpack(dump, target)
    assert contents(target) == {"database.dump": b"PGDMP"}
    assert backup_archive.move(target, tmp_path / "other") == 0


@pytest.mark.parametrize(
    "name", ["media/../../outside", "media/files/..", "../outside", "/outside", "lock", "media", "media/a/b"]
)
def test_nothing_is_written_elsewhere(name: str, target: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "backup.tar", "w") as made:
        for each in ("database.dump", name):
            member = tarfile.TarInfo(each)
            member.size = 4
            made.addfile(member, io.BytesIO(b"evil"))
        link = tarfile.TarInfo("media/files/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(link)
    backup_archive.unpack(tmp_path / "backup.tar", target)
    assert contents(tmp_path).keys() - {"backup.tar"} == {"target/database.dump"}


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_dump_that_is_no_file_is_refused(kind: bytes, target: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "backup.tar", "w") as made:
        member = tarfile.TarInfo("database.dump")
        member.type, member.linkname = kind, "/etc/passwd"
        made.addfile(member)
    with pytest.raises(backup_archive.BackupUnreadable, match="no dump"):
        backup_archive.unpack(tmp_path / "backup.tar", target)


def test_one_that_is_cut_behind_the_dump_or_has_a_damaged_header_is_refused(
    backup: Path, target: Path
) -> None:
    whole = backup.read_bytes()
    begin = whole.index(b"media/files/one")
    damaged = [whole[:length] for length in range(begin - 512, begin + 1024 + 1, 512)]
    damaged += [whole[:begin] + b"?" + whole[begin + 1 :], whole[:begin] + bytes(512) + whole[begin + 512 :]]
    for content in damaged:
        backup.write_bytes(content)
        with pytest.raises(backup_archive.BackupUnreadable):
            backup_archive.unpack(backup, target)


@pytest.mark.parametrize("name", ["n" * 300, "a\0b"])
def test_one_with_a_name_that_no_file_can_have_is_refused(name: str, target: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "backup.tar", "w") as made:
        made.addfile(tarfile.TarInfo(f"media/files/{name}"))
    with pytest.raises(backup_archive.BackupUnreadable):
        backup_archive.unpack(tmp_path / "backup.tar", target)
