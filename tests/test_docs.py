"""The documentation names only existing paths, tests, variables and processes."""

import re
from functools import cache
from pathlib import Path

import pytest

from config import command
from config.installation import version
from config.programs import procfile
from tests.configuration_page import variable_names
from tests.instance import ROOT
from tests.suites import functions_of_tests, runs_with_every_change

pytestmark = [pytest.mark.pure, pytest.mark.documents]

OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
GUARANTEES = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
PAGES = [
    *(ROOT / name for name in ("ARCHITECTURE.md", "README.md", "SECURITY.md", "STYLE.md", "CONTRIBUTING.md")),
    ROOT / "bench" / "README.md",
    ROOT / "tests" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FOLDERS = sorted(
    path.name
    for path in ROOT.iterdir()
    if path.is_dir() and path.name[0].isalpha() and path.name != "node_modules"
)
NAMED_TESTS = sorted(
    set(re.findall(r"`(tests/[\w/]+\.py)::(?:Test\w+::)?(test_\w+)`", GUARANTEES + SECURITY))
)


@cache
def file_names() -> set[str]:
    below = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*"))
    return {path.name for path in (*ROOT.iterdir(), *below)}


def test_every_named_test_exists() -> None:
    named = [(ROOT / path, name) for path, name in NAMED_TESTS]
    assert [f"{path}::{name}" for path, name in named if name not in functions_of_tests(path)] == []


def test_every_guarantee_and_every_fault_has_a_row() -> None:
    assert re.findall(r"^\| \*\*(I\d)\*\*", GUARANTEES, re.MULTILINE) == [f"I{n}" for n in range(1, 10)]
    assert re.findall(r"^\| (F\d+) \|", GUARANTEES, re.MULTILINE) == [f"F{n}" for n in range(1, 37)]


def test_every_row_names_a_test_or_says_that_there_is_none_yet() -> None:
    rows = re.findall(r"^\| (?:\*\*I\d\*\*|F\d+) \|.*$", GUARANTEES, re.MULTILINE)
    assert [row for row in rows if "::" not in row and "not yet" not in row] == []


def test_every_row_names_a_test_that_every_change_runs() -> None:
    rows = re.findall(
        r"^\| .*`tests/[\w/]+\.py.*$", GUARANTEES.split("## Compared")[0] + SECURITY, re.MULTILINE
    )
    assert len(rows) > 80
    assert [row[:80] for row in rows if not any(map(runs_with_every_change, *named_in(row)))] == []


def named_in(row: str) -> tuple[list[Path], list[str]]:
    """The test functions that a row names; of a module named whole, all of them."""
    named = [
        (ROOT / path, name or every)
        for path, name in re.findall(r"`(tests/[\w/]+\.py)(?:::(?:Test\w+::)?(test_\w+))?`", row)
        for every in ([name] if name else sorted(functions_of_tests(ROOT / path)))
    ]
    return [path for path, _ in named], [name for _, name in named]


def test_the_variables_are_in_the_readme() -> None:
    table = OPERATIONS.split("## Settings that matter here")[1]
    named = set(re.findall(r"`([A-Z][A-Z_]+)`", table))
    assert named
    assert named <= variable_names()


def test_every_process_is_described() -> None:
    rows = set(re.findall(r"^\| (\w+) \|", OPERATIONS.split("## Scaling")[0], re.MULTILINE))
    assert rows - {"process"} == set(procfile())


def test_the_commands_of_turnwire_exist() -> None:
    """Those on lines of their own, in blocks."""
    found = [words for _, words in in_every_page(r"(?m)^(?:[A-Z_]+=\S+ )*turnwire ([a-z].*)$")]
    assert "worker llm --queues slow" in found
    for words in found:
        command.chosen(words.split())


def in_every_page(pattern: str) -> list[tuple[Path, str]]:
    """What the pattern's group matches, with its page."""
    return [
        (page, found) for page in PAGES for found in re.findall(pattern, page.read_text(encoding="utf-8"))
    ]


def test_every_path_named_exists() -> None:
    """Checks text in backticks that begins with a top-level folder, and names of pages at the top (NAME.md)."""
    named = in_every_page(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*|[A-Z]+\.md)(?:::\w+)?`")
    assert [(page.name, path) for page, path in named if not (ROOT / path).exists()] == []


def test_every_file_named_without_its_folder_exists() -> None:
    named = in_every_page(r"`(\w+\.(?:py|js|css|html|toml|yaml))`")
    assert [(page.name, name) for page, name in named if name not in file_names()] == []


def test_every_relative_link_leads_to_a_file() -> None:
    links = in_every_page(r"\]\((?!https?:|#)([^)#\s]+)")
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def test_every_page_is_linked_from_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    links = re.findall(r"\]\(([^)#\s]+\.md)\)", index.read_text(encoding="utf-8"))
    linked = {(index.parent / link).resolve() for link in links}
    assert set((ROOT / "docs").rglob("*.md")) - linked == {index}


def test_the_changelog_has_notes_of_this_version_below_what_is_not_released() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased, newest = re.findall(r"^## (.+)$", changelog, re.MULTILINE)[:2]
    assert unreleased == "Unreleased"
    assert re.fullmatch(rf"{re.escape(version())} \(20\d\d-\d\d-\d\d\)", newest)
    # Notes stand before the lists.
    assert re.search(rf"(?m)^## {re.escape(newest)}\n\n[^#]", changelog)
