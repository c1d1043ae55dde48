"""Production installs no tools, its licences are known, and its bill of materials can be made."""

import importlib.util
import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests import licences
from tests.instance import ROOT
from tests.test_locks import pins

DEVELOPMENT, PRODUCTION = ROOT / "requirements.lock", ROOT / "requirements-production.lock"
# What is licensed so is installed, not linked into what is distributed: psycopg (LGPL), certifi and dompurify (MPL).
ACCEPTED = re.compile(r"MIT|BSD|Apache|ISC|PSF|Python Software|LGPL|MPL|Mozilla|OFL|CNRI|Unlicense|0BSD|Zlib")


def named(requirements: list[str]) -> set[str]:
    found = (re.match(r"[A-Za-z0-9._-]+", each) for each in requirements)
    return {match[0].lower().replace("_", "-") for match in found if match}


@pytest.mark.documents
@pytest.mark.pure
def test_production_has_the_same_pins_without_what_only_develops() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    production = {name for name, _ in pins(PRODUCTION)}
    assert pins(PRODUCTION) <= pins(DEVELOPMENT)
    assert named(project["dependencies"]) <= production
    assert production & named(project["optional-dependencies"]["dev"]) <= {"babel", "pyyaml"}, (
        "trafilatura's and drf-spectacular's"
    )


@pytest.mark.documents
@pytest.mark.pure
def test_every_package_of_production_has_a_licence_that_was_read() -> None:
    packages = [*licences.python_packages(), *licences.browser_modules()]
    assert len(packages) > 60
    assert [each for each in packages if not ACCEPTED.search(each.licence)] == []


@pytest.mark.documents
@pytest.mark.pure
def test_the_page_of_licences_names_every_package_of_production() -> None:
    rows = re.findall(r"^\| (.+) \| (.+) \|$", licences.PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = {(name, licence) for licence, names in rows for name in names.split(", ")}
    packages = [*licences.python_packages(), *licences.browser_modules()]
    assert {(each.name, each.licence) for each in packages} - listed == set()


def test_a_bill_of_materials_has_every_pin_with_its_hashes(tmp_path: Path) -> None:
    python = ROOT / ".venv-sbom" / "bin" / "python"
    if not python.exists():
        pytest.skip("make sbom installs the tool; CI does that before the tests")
    target = tmp_path / "sbom.json"
    command = [python, "-W", "ignore", "-m", "cyclonedx_py", "requirements", PRODUCTION]
    subprocess.run([*command, "--output-reproducible", "--of", "JSON", "-o", target], check=True)
    components = json.loads(target.read_text())["components"]
    assert {(each["name"], each["version"]) for each in components} == pins(PRODUCTION)
    assert all(each["externalReferences"][0]["hashes"] for each in components)


def test_no_package_slows_the_start_of_every_process() -> None:
    """jsonschema, which workers import, builds grammars for 1.4 s when this package is there."""
    found = importlib.util.find_spec("rfc3987_syntax")
    assert found is None, "make clean removes what an earlier lock file installed"
