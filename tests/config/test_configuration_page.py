"""The page on configuration says what config/variables.py reads, and nothing else reads the environment."""

import pytest

from config import environment
from tests.configuration_page import TARGET, render, variable_names
from tests.instance import ROOT

pytestmark = [pytest.mark.pure, pytest.mark.documents]

# tests/README.md
OF_TESTS = {"FAULT_POINTS"}


def test_the_page_is_what_the_variables_say() -> None:
    assert TARGET.read_text(encoding="utf-8") == render(), "make types writes it"


def test_every_variable_that_is_read_has_a_meaning() -> None:
    assert environment.NAMES_READ - environment.NO_LONGER_READ.keys() - variable_names() == OF_TESTS


def test_nothing_but_the_settings_reads_the_environment() -> None:
    """Except config/, which has the process edges, keys of models and variables of MCP servers, which rows name, and
    what numpy is told when it is loaded."""
    readers = {
        str(path.relative_to(ROOT)): line.strip()
        for package in ("chat", "web", "llm_worker", "compression", "ingest", "features", "knowledge")
        for path in (ROOT / package).rglob("*.py")
        if path.parent.name != "client" or path.name != "configuration.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if "os.environ" in line and "api_key_env" not in line and "_NUM_THREADS" not in line
    }
    assert readers == {}
