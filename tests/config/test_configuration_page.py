"""The table of docs/configuration.md and the settings name the same variables."""

import ast
import re

import pytest

from chat.models import ModelConfig
from tests.instance import ROOT

pytestmark = [pytest.mark.pure, pytest.mark.documents]


# tests/README.md
OF_TESTS = {"FAULT_POINTS"}


def variables_read() -> set[str]:
    found = {"DATA_DIR", ModelConfig._meta.get_field("api_key_env").default}
    settings = (ROOT / "config" / "settings.py").read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(settings)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            owner, first = node.func.value, node.args[0]
            is_read = node.func.attr not in ("constant", "renamed", "fail")
            if (
                is_read
                and isinstance(owner, ast.Name)
                and owner.id == "env"
                and isinstance(first, ast.Constant)
            ):
                found.add(str(first.value))
    return found - OF_TESTS


def variables_in_table() -> set[str]:
    table = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| `([A-Z_]+)`", table, re.MULTILINE))


def test_every_variable_is_in_the_table_and_nothing_else_is() -> None:
    assert variables_in_table() == variables_read()


def test_nothing_but_the_settings_reads_the_environment() -> None:
    """Except config/, which has the process edges, keys of models and variables of MCP servers, which rows name, and
    what numpy is told when it is loaded."""
    readers = {
        str(path.relative_to(ROOT)): line.strip()
        for package in ("chat", "web", "llm_worker", "compression", "ingest", "features", "knowledge")
        for path in (ROOT / package).rglob("*.py")
        if path.parent.name != "mcp" or path.name != "configuration.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if "os.environ" in line and "api_key_env" not in line and "_NUM_THREADS" not in line
    }
    assert readers == {}
