"""Which modes the launcher tightens, and which it leaves."""

import os
import stat
from pathlib import Path

import pytest

from config.private_files import close_to_others, make_data_dir

pytestmark = pytest.mark.pure


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_files_of_ours_are_closed_and_no_others(tmp_path: Path) -> None:
    data, outside = tmp_path / "data", tmp_path / "outside"
    (data / "valkey" / "appendonlydir").mkdir(parents=True)
    outside.mkdir()
    inner, own, foreign = data / "valkey" / "appendonlydir" / "x.aof", data / "own.txt", outside / "x"
    for path in (inner, own, foreign):
        path.write_text("")
        path.chmod(0o664)
    program = data / "valkey" / "run"
    program.write_text("")
    program.chmod(0o755)
    (data / "logs").symlink_to(outside)
    before = [mode_of(path) for path in (data, own, outside, foreign)]
    close_to_others(data)
    assert (mode_of(inner), mode_of(inner.parent), mode_of(program)) == (0o600, 0o700, 0o700)
    assert [mode_of(path) for path in (data, own, outside, foreign)] == before


def test_a_new_folder_and_those_in_it_are_private(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        make_data_dir(tmp_path / "data")
        close_to_others(tmp_path / "data")
        assert {mode_of(path) for path in (tmp_path / "data").iterdir()} == {0o700}
        assert mode_of(tmp_path / "data") == (0o711 if os.geteuid() == 0 else 0o700), "nobody lists it"
    finally:
        os.umask(before)


def test_an_existing_folder_keeps_its_mode(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        tmp_path.chmod(0o755)
        make_data_dir(tmp_path)
        assert mode_of(tmp_path) == 0o755
    finally:
        os.umask(before)
