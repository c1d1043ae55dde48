"""The documentation names only existing paths, tests, metrics, variables and processes, and its commands work."""

import ast
import os
import re
import subprocess
from functools import cache
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from config.programs import procfile
from tests.config.test_readme import variables_in_readme
from tests.instance import ROOT
from tests.services import Services
from web.rest.metrics import DeploymentCollector

OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
GUARANTEES = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
PAGES = [
    *(ROOT / name for name in ("ARCHITECTURE.md", "README.md", "SECURITY.md", "STYLE.md", "CONTRIBUTING.md")),
    ROOT / "bench" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FOLDERS = sorted(
    path.name
    for path in ROOT.iterdir()
    if path.is_dir() and path.name[0].isalpha() and path.name != "node_modules"
)
NAMED_TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", GUARANTEES + SECURITY)))


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def file_names() -> set[str]:
    below = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*"))
    return {path.name for path in (*ROOT.iterdir(), *below)}


@cache
def names_of_tests(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {node.name for node in functions if node.name.startswith("test_")}


@pytest.mark.parametrize(("path", "name"), NAMED_TESTS)
def test_every_named_test_exists(path: str, name: str) -> None:
    assert name in names_of_tests(path)


def test_every_guarantee_and_every_fault_has_a_row() -> None:
    assert re.findall(r"^\| \*\*(I\d)\*\*", GUARANTEES, re.MULTILINE) == [f"I{n}" for n in range(1, 10)]
    assert re.findall(r"^\| (F\d+) \|", GUARANTEES, re.MULTILINE) == [f"F{n}" for n in range(1, 32)]


def test_every_row_names_a_test_or_says_that_there_is_none_yet() -> None:
    rows = re.findall(r"^\| (?:\*\*I\d\*\*|F\d+) \|.*$", GUARANTEES, re.MULTILINE)
    assert [row for row in rows if "::" not in row and "not yet" not in row] == []


@pytest.mark.django_db
def test_operations_describes_exactly_the_exported_metrics() -> None:
    exported = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in DeploymentCollector().collect()
    }
    parts = r"_(?:bucket|count|sum)$"
    named = {re.sub(parts, "", name) for name in re.findall(r"\bturnwire_\w+", OPERATIONS)}
    assert named == exported


def test_the_variables_are_in_the_readme() -> None:
    table = OPERATIONS.split("## Settings that matter here")[1]
    named = set(re.findall(r"`([A-Z][A-Z_]+)`", table))
    assert named
    assert named <= variables_in_readme()


def test_every_process_is_described() -> None:
    rows = set(re.findall(r"^\| (\w+) \|", OPERATIONS.split("## Scaling")[0], re.MULTILINE))
    assert rows - {"process"} == set(procfile())


def test_the_command_for_another_queue_is_that_of_the_procfile() -> None:
    line = next(line for line in OPERATIONS.splitlines() if "-Q slow -n" in line)
    command = line.removeprefix("LLM_CONCURRENCY=50 .venv/bin/").replace("slow", "llm")
    assert command.replace("-c 50", '-c "${LLM_CONCURRENCY:-200}"') == procfile()["llm"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_path_named_exists(page: Path) -> None:
    """Checks text in backticks that begins with a top-level folder, and names of pages at the top (NAME.md)."""
    named = re.findall(
        rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*|[A-Z]+\.md)(?:::\w+)?`", page.read_text(encoding="utf-8")
    )
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_file_named_without_its_folder_exists(page: Path) -> None:
    named = re.findall(r"`(\w+\.(?:py|js|css|html|toml|yaml))`", page.read_text(encoding="utf-8"))
    assert set(named) - file_names() == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_relative_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_is_linked_from_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    links = re.findall(r"\]\(([^)#\s]+\.md)\)", index.read_text(encoding="utf-8"))
    linked = {(index.parent / link).resolve() for link in links}
    assert set((ROOT / "docs").rglob("*.md")) - linked == {index}


def test_the_backup_commands_restore_a_backup(services: Services, tmp_path: Path) -> None:
    """With the commands of operations.md, into a new database."""
    commands = re.findall(r"\$BIN/(pg_dump|pg_restore)([^`\n]*)", OPERATIONS)
    assert [name for name, _ in commands] == ["pg_dump", "pg_restore"]
    binaries = next(line for line in OPERATIONS.splitlines() if line.startswith("BIN="))
    urls = [make_conninfo(services.postgres.url, dbname=name) for name in ("dumped", "restored")]
    with psycopg.connect(services.postgres.url, autocommit=True) as admin:
        admin.execute("CREATE DATABASE dumped")
        admin.execute("CREATE DATABASE restored")
    with psycopg.connect(urls[0]) as database:
        database.execute("CREATE TABLE said AS SELECT 'Two.' AS text")
    for (name, arguments), url in zip(commands, urls, strict=True):
        replaced = arguments.replace("turnwire.dump", str(tmp_path / "turnwire.dump"))
        command = ["sh", "-ec", f'{binaries}; "$BIN"/{name}{replaced}']
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "URL": url})
    with psycopg.connect(urls[1]) as database:
        assert database.execute("SELECT text FROM said").fetchall() == [("Two.",)]
