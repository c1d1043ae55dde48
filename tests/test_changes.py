"""Rules for what changes, which older code does not follow yet: names in lines of Python, and subjects of commits."""

import ast
import re
import subprocess
from collections.abc import Iterator

import pytest

from tests.instance import ROOT

pytestmark = [pytest.mark.documents]

# The commit before these rules. Lines and subjects since are checked.
SINCE = "4bd144b8ae177a58a02f28544809cdf545da5313"
SUBJECT_CHARACTERS = 72
# Words that do not say what a variable holds.
REFUSED_LOCALS = {"one", "given", "found", "held", "shown", "said", "kept", "at", "taken", "told"}
# Verbs that do not say what a function does.
REFUSED_VERBS = re.compile(r"_*(take|give|hold|keep|tell|go_on|let_wait)(_|$)")
HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,\d+)? @@")
# The colours by which git tells a line that is new from one that it finds removed elsewhere, in a block of some length.
COLOURS = {
    "meta": "bold",
    "frag": "yellow",
    "new": "green",
    "newMoved": "cyan",
    "newMovedAlternative": "cyan",
}
NAME_OF_FILE, START_OF_HUNK = "\x1b[1m+++ b/", "\x1b[33m@@"
NEW_LINE, MOVED_LINE = "\x1b[32m+", "\x1b[36m+"


def git(*arguments: str) -> str:
    """Return what git prints. Skips the test where there is no history, as in an archive of the sources."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


def changed_lines() -> Iterator[tuple[str, set[int]]]:
    """Yield each changed file with the numbers of its changed lines.

    A line that moved, with its file or in a block to another file, is not changed.
    """
    colours = [word for name, colour in COLOURS.items() for word in ("-c", f"color.diff.{name}={colour}")]
    # Of all files at once: among single ones, git finds no file that another was moved from.
    options = ("--color=always", "--color-moved=blocks", "--unified=0", "--find-renames")
    changed: dict[str, set[int]] = {}
    path, number = "", 0
    for line in git(*colours, "diff", *options, SINCE, "--", "*.py").split("\n"):
        if line.startswith(NAME_OF_FILE):
            path = line.removeprefix(NAME_OF_FILE).removesuffix("\x1b[m")
        elif line.startswith(START_OF_HUNK):
            hunk = HUNK.search(line)
            assert hunk, line
            number = int(hunk[1])
        elif line.startswith((NEW_LINE, MOVED_LINE)):
            if line.startswith(NEW_LINE):
                changed.setdefault(path, set()).add(number)
            number += 1
    yield from changed.items()


def refused_names(source: str, lines: set[int]) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if getattr(node, "lineno", 0) not in lines:
            continue
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if REFUSED_VERBS.match(name):
                yield f"{node.lineno} {name}()"
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) if name in REFUSED_LOCALS:
                yield f"{node.lineno} {name}"


def test_names_in_changed_lines_say_what_they_hold_or_do() -> None:
    assert [
        f"{path}:{name}"
        for path, lines in changed_lines()
        for name in refused_names((ROOT / path).read_text(encoding="utf-8"), lines)
    ] == []


def test_subjects_of_commits_fit_in_one_line() -> None:
    subjects = git("log", "--no-merges", "--format=%s", f"{SINCE}..HEAD").splitlines()
    assert [subject for subject in subjects if len(subject) > SUBJECT_CHARACTERS] == []


def test_the_rules_refuse_what_they_name() -> None:
    source = "def take_rest(given):\n    for one in given:\n        kept = one\n    taken_at = 0\n"
    assert list(refused_names(source, {1, 2, 3, 4})) == ["1 take_rest()", "1 given", "2 one", "3 kept"]
    assert list(refused_names(source, {4})) == []
