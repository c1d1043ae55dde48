"""The embedded servers' addresses and what an earlier start left."""

import os
import socket
from pathlib import Path

import pytest

from config import embedded


def test_a_port_is_kept_for_the_next_start(tmp_path: Path) -> None:
    port = embedded.kept_port(tmp_path / "port")
    assert embedded.kept_port(tmp_path / "port") == port


def test_a_kept_port_that_somebody_else_took_is_replaced(tmp_path: Path) -> None:
    port = embedded.kept_port(tmp_path / "port")
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        assert embedded.kept_port(tmp_path / "port") != port


def test_a_path_too_long_for_a_socket_gets_a_short_folder_of_its_own(tmp_path: Path) -> None:
    directory = tmp_path / ("long" * 30)
    directory.mkdir()
    chosen = embedded._socket_dir(directory, None)
    try:
        assert chosen != directory
        assert embedded._socket_dir(directory, None) == chosen
        assert chosen.stat().st_mode & 0o777 == 0o700
        with socket.socket(socket.AF_UNIX) as probe:
            probe.bind(str(chosen / ".s.PGSQL.5432"))
        (chosen / ".s.PGSQL.5432").unlink()
    finally:
        chosen.rmdir()


def test_a_short_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    directory = tmp_path / ("long" * 30)
    directory.mkdir()
    chosen = embedded._socket_dir(directory, None)
    chosen.rmdir()
    chosen.symlink_to(tmp_path)
    try:
        with pytest.raises(RuntimeError, match="somebody else"):
            embedded._socket_dir(directory, None)
    finally:
        chosen.unlink()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("not a number\n", id="no number"),
        pytest.param(f"{os.getpid()}\n", id="this process"),
        pytest.param("999999999\n", id="nobody"),
    ],
)
def test_a_pid_file_that_does_not_name_our_server_is_only_removed(tmp_path: Path, text: str) -> None:
    postgres, valkey = tmp_path / "postgres", tmp_path / "valkey"
    for directory, name in ((postgres, "postmaster.pid"), (valkey, "valkey.pid")):
        directory.mkdir()
        (directory / name).write_text(text)
    embedded.stop_leftovers(postgres, valkey)
    assert list(postgres.iterdir()) == list(valkey.iterdir()) == []
