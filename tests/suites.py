"""Which tests run when, and how long a test may take.

`make check` runs what is marked `documents`, `make test` all other tests but those marked `full` and, of those marked
`browser` or `fault`, all that are not marked `core`; `make core` runs the fault tests marked `core`. Together they are what
every change runs. `python -m tests.remaining` runs as many files of the rest as its time allows, `make full` everything.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

import pytest

# As in the Makefile, which has the expressions of the other suites.
REMAINING: Final = "full or ((browser or fault) and not core)"

# Seconds that a test may take with its fixtures, by its kind: twice what the slowest take beside other work, or more.
LIMITS: Final = {"browser": 90, "fault": 120, "e2e": 120, "documents": 60, "pure": 10}
LIMIT_WITH_A_DATABASE: Final = 60
# Of a property that is pure: hundreds of examples, which compute all the time, take ten times as long beside other work.
LIMIT_OF_A_PROPERTY: Final = 30
# Between the end of the browser of a late test and that of the test itself.
GRACE_S: Final = 30

_OF_A_MODULE: Final = re.compile(r"^pytestmark = (\[.*?\]|[^\n]*)", re.MULTILINE | re.DOTALL)
_NAME: Final = re.compile(r"\b(?!and\b|or\b|not\b)[a-z_][a-z0-9_]*\b")


def is_ignored(path: Path, expression: str) -> bool:
    """Whether no test of the file or folder at `path` can match the `-m` expression, so that it need not be imported."""
    if path.is_dir() and expression:
        tests = list(path.rglob("test_*.py"))
        return bool(tests) and all(is_ignored(test, expression) for test in tests)
    if path.suffix != ".py" or not path.name.startswith("test_") or not expression:
        return False
    return not any(eval(expression, {}, marks) for marks in _possible_marks(path, expression))


def _possible_marks(path: Path, expression: str) -> Iterator[dict[str, bool]]:
    """Which marks of the expression a test of the file may have: those of the module, and any others that it names."""
    names = sorted(set(_NAME.findall(expression)))
    of_all, of_some = marks_of_module(path), set(re.findall(r"mark\.(\w+)", _text(path)))
    choices = [
        (True,) if name in of_all else (False, True) if name in of_some else (False,) for name in names
    ]
    return (dict(zip(names, chosen, strict=True)) for chosen in product(*choices))


def marks_of_module(path: Path) -> frozenset[str]:
    """The marks that a test module gives all its tests."""
    found = _OF_A_MODULE.search(_text(path))
    return frozenset(re.findall(r"mark\.(\w+)", found[1])) if found else frozenset()


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def functions_of_tests(path: Path) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The test functions of a module and of its classes, by name; of a name, the first."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [node for node in ast.walk(ast.parse(_text(path))) if isinstance(node, kinds)]
    return {one.name: one for one in reversed(functions) if one.name.startswith("test_")}


def runs_with_every_change(path: Path, name: str) -> bool:
    """Whether some case of the test function `name` does, in the module or in a class of it."""
    decorators = [ast.unparse(node) for node in functions_of_tests(path)[name].decorator_list]
    own = {found[1] for text in decorators if (found := re.match(r"pytest\.mark\.(\w+)", text))}
    marks = marks_of_module(path) | own
    if "full" in marks:
        return False
    return not marks & {"browser", "fault"} or "core" in marks or "mark.core" in "".join(decorators)


def set_time_limits(items: list[pytest.Item]) -> None:
    """Limit each test that has no limit of its own: it fails, with the stack of every thread.

    Of a browser test that is late, the browser is killed first (tests/browser/conftest.py).
    """
    for item in items:
        if not item.get_closest_marker("timeout"):
            kind = next((name for name in LIMITS if item.get_closest_marker(name)), None)
            seconds = LIMITS[kind] if kind else LIMIT_WITH_A_DATABASE
            if kind == "pure" and getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                seconds = LIMIT_OF_A_PROPERTY
            item.add_marker(pytest.mark.timeout(seconds + (GRACE_S if kind == "browser" else 0)))


def browser_limit(item: pytest.Item) -> float:
    """Seconds after which the browser of the test is killed, so that it ends within its limit."""
    marker = item.get_closest_marker("timeout")
    assert marker, "set_time_limits() has marked every test"
    return float(marker.args[0] - GRACE_S)
