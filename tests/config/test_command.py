"""The command `turnwire`: what each of its words becomes. tests/test_installed.py installs it."""

import sys
import tomllib
from pathlib import Path

import pytest

from config import command, installation
from config.programs import procfile, shell_command
from tests.instance import ROOT

pytestmark = pytest.mark.pure

PYTHON = sys.executable


@pytest.mark.parametrize(
    ("words", "program"),
    [
        ("run", [PYTHON, "-m", "config.launcher"]),
        ("migrate", [PYTHON, "-m", "config.bootstrap"]),
        ("doctor", [PYTHON, "-m", "config.doctor"]),
        ("backup /a.tar --without-files", [PYTHON, "-m", "config.backup", "backup", "/a.tar", "--without-files"]),
        ("backup /a.tar --check", [PYTHON, "-m", "config.backup", "backup", "/a.tar", "--check"]),
        ("restore a.tar", [PYTHON, "-m", "config.backup", "restore", str(Path("a.tar").absolute())]),
        ("web", shell_command(procfile()["web"])),
        ("worker sweeper", shell_command(procfile()["sweeper"])),
        ("worker ingest", shell_command(procfile()["ingest"])),
        ("manage create_user alice --staff", [PYTHON, str(ROOT / "manage.py"), "create_user", "alice", "--staff"]),
    ],
)  # fmt: skip
def test_a_word_becomes_what_the_procfile_and_make_run_start(words: str, program: list[str]) -> None:
    assert command.chosen(words.split()).program == program


def test_every_process_of_the_procfile_can_be_started() -> None:
    started = [command.chosen(["worker", kind]).program for kind in command.WORKERS]
    started.append(command.chosen(["web"]).program)
    assert sorted(started) == sorted(shell_command(line) for line in procfile().values())


def test_a_pool_takes_the_queues_that_it_is_given() -> None:
    pool = command.chosen(["worker", "llm", "--queues", "slow,llm"])
    assert pool.program == shell_command(procfile()["llm"])
    assert pool.values == {"LLM_QUEUES": "slow,llm"}
    assert '"${LLM_QUEUES:-llm}"' in procfile()["llm"]


@pytest.mark.parametrize(
    "words", ["", "serve", "worker", "worker web", "worker ingest --queues slow", "run now"]
)
def test_other_words_are_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.chosen(words.split())
    assert ended.value.code == 2
    assert "usage: turnwire" in capsys.readouterr().err


def test_a_relative_folder_of_data_is_in_that_of_whoever_calls(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The programs run in the folder of the code."""
    monkeypatch.chdir(tmp_path)
    values = {"DATA_DIR": "here", "PORT": "80"}
    assert command.with_absolute_data_dir(values) == values | {"DATA_DIR": str(tmp_path / "here")}


def test_the_version_is_that_of_pyproject(capsys: pytest.CaptureFixture[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert installation.version() == project["version"]
    with pytest.raises(SystemExit):
        command.chosen(["--version"])
    assert capsys.readouterr().out == f"turnwire {project['version']}\n"


def test_an_installed_package_keeps_its_data_with_the_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert installation.default_data_dir(ROOT) == ROOT / ".data"
    assert installation.default_data_dir(tmp_path / "site-packages" / "turnwire") == tmp_path / "turnwire"
