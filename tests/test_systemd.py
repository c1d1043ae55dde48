"""The units of systemd name what is there, and systemd reads them. None is started."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from config import command
from config.environment import EX_CONFIG
from config.programs import HANDOVER_S, procfile
from tests.configuration_page import variable_names
from tests.instance import ROOT
from tests.test_image import OURS

pytestmark = pytest.mark.documents

FOLDER = ROOT / "deploy" / "systemd"
PAGE = (ROOT / "docs" / "systemd.md").read_text(encoding="utf-8")
PROGRAM = "/opt/turnwire/bin/turnwire"
COMMON = "turnwire-.service.d/common.conf"
DRAIN_GRACE_S = 20  # docs/configuration.md


def settings_of(name: str) -> dict[str, list[str]]:
    """Name of a setting -> its values, in the order of the file."""
    found: dict[str, list[str]] = {}
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        setting, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(setting, []).append(value)
    return found


def started_by_the_target() -> list[tuple[str, str]]:
    """The file of each unit, and its instance or ""."""
    units = " ".join(settings_of("turnwire.target")["Wants"]).split()
    return [(re.sub(r"@[^.]+", "@", unit), "".join(re.findall(r"@([^.]+)", unit))) for unit in units]


def words_of(unit: str, instance: str = "") -> list[str]:
    [line] = settings_of(unit)["ExecStart"]
    program, *words = line.replace("%i", instance).split()
    assert program == PROGRAM
    return words


def test_the_target_starts_every_process_and_two_llm_workers() -> None:
    started = [command.chosen(words_of(*unit)).program[-1] for unit in started_by_the_target()]
    expected = [name for name in procfile() for _ in range(2 if name == "llm" else 1)]
    assert sorted(started) == sorted(f"exec {procfile()[name]}" for name in expected)


def test_what_runs_once_is_a_command() -> None:
    assert words_of("turnwire-migrate.service") == OURS["migrate"]["command"]
    assert words_of("turnwire-run.service") == ["run"]


def test_a_worker_has_time_to_put_its_runs_back() -> None:
    common, whole = settings_of(COMMON), settings_of("turnwire-run.service")
    assert int(common["TimeoutStopSec"][0]) > DRAIN_GRACE_S + HANDOVER_S
    # And then web, Postgres and Valkey (config/programs.py).
    assert int(whole["TimeoutStopSec"][0]) >= DRAIN_GRACE_S + HANDOVER_S + 10 + 30 + 10
    assert common["KillMode"] == ["mixed"]


def test_what_only_people_can_set_right_is_not_tried_again() -> None:
    names = [path.name for path in FOLDER.glob("*.service") if path.name != "turnwire-migrate.service"]
    assert len(names) == 4
    for name in names:
        assert settings_of(name)["Restart"] == ["always"]
        assert settings_of(name)["RestartPreventExitStatus"] == [str(EX_CONFIG)]


def test_only_known_variables_are_set() -> None:
    [environment] = re.findall(r"(?s)/etc/turnwire/environment <<END\n(.*?)\nEND", PAGE)
    named = set(re.findall(r"^([A-Z_]+)=", environment, re.MULTILINE))
    assert {"SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL", "REDIS_URL"} <= named
    of_units = set(re.findall(r"([A-Z_]+)=\S", " ".join(settings_of(COMMON)["Environment"])))
    assert (named | of_units) - {"PYTHONDONTWRITEBYTECODE"} <= variable_names()


def test_the_data_is_in_the_folder_that_may_be_written() -> None:
    common = settings_of(COMMON)
    assert common["ProtectSystem"] == ["strict"]
    assert f"DATA_DIR=/var/lib/{common['StateDirectory'][0]} " in common["Environment"][0]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_has_no_complaint(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    for path in tmp_path.glob("*.service"):  # it looks whether the program is there
        path.write_text(path.read_text(encoding="utf-8").replace(PROGRAM, "/bin/true"), encoding="utf-8")
    for units in (
        ["turnwire.target", "turnwire-migrate.service", "turnwire-llm@slow.service"],
        ["turnwire-run.service"],  # conflicts with the target
    ):
        verify = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", *units], check=False, capture_output=True, text=True,
            env=os.environ | {"SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
        )  # fmt: skip
        of_ours = [line for line in verify.stderr.splitlines() if "turnwire" in line]
        assert (verify.returncode, of_ours) == (0, [])
