"""The lock files are compatible with each other, pin hashes, and contain no registry address."""

import re
from pathlib import Path

import pytest

from tests.instance import ROOT

LOCKS = sorted(ROOT.glob("requirements*.lock"))


def pins(path: Path) -> set[tuple[str, str]]:
    """(package, version and marker)."""
    return set(
        re.findall(r"^([a-z0-9][a-z0-9._-]*)(?:\[[^\]]*\])?==([^\s\\]+)", path.read_text(), re.MULTILINE)
    )


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_pin_has_a_hash_and_no_address(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert pins(path)
    for block in re.split(r"\n(?=[a-z0-9])", text):
        if "==" in block.partition("\n")[0]:
            assert "--hash=sha256:" in block
    assert "://" not in text


def test_the_local_model_installs_beside_the_rest() -> None:
    base = pins(ROOT / "requirements.lock")
    names = {name for name, _ in base}
    shared = {pin for pin in pins(ROOT / "requirements-local-model.lock") if pin[0] in names}
    assert shared - base == set()
