"""Size limits of functions and parameter lists, how docstrings begin, and the rule that only models save."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.instance import ROOT

pytestmark = [pytest.mark.documents]

LINES_IN_A_FUNCTION = 60
PARAMETERS = 5
# First words that ruff's D401 accepts although they are no verbs.
NO_VERBS = {
    "All", "Also", "Always", "And", "As", "At", "Because", "Before", "Both", "By", "Each", "Either", "Every",
    "Except", "False", "Files", "For", "From", "How", "If", "In", "Into", "It", "Its", "Like", "Neither",
    "Never", "No", "Nobody", "None", "Not", "Nothing", "Of", "On", "Once", "One", "Only", "Or", "Other",
    "Others", "Rows", "Some", "Texts", "That", "Their", "Those", "Tokens", "Until", "What", "When", "Where",
    "Whether", "Which", "While", "Who", "Whose", "Why", "With", "Without",
}  # fmt: skip
NOT_OURS_TO_SPLIT = ("tests", "migrations", "static", "node_modules")


def sources() -> list[Path]:
    """The Python files of the working tree that git does not ignore; without git, all of them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    listed = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    paths = [ROOT / line for line in listed] or [
        path for path in ROOT.rglob("*.py") if ".venv" not in path.parts
    ]
    return [
        path
        for path in paths
        if path.exists() and not set(NOT_OURS_TO_SPLIT) & set(path.relative_to(ROOT).parts)
    ]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_there_are_sources() -> None:
    assert len(sources()) > 20


def test_a_function_fits_on_a_screen() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}"
        for path in sources()
        for function in functions(path)
        if (function.end_lineno or 0) - function.lineno + 1 > LINES_IN_A_FUNCTION
    ]
    assert long == []


def test_parameters_that_travel_together_are_one_thing() -> None:
    many = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}"
        for path in sources()
        for function in functions(path)
        if len([p for p in function.args.args if p.arg not in ("self", "cls")])
        + len(function.args.kwonlyargs)
        > PARAMETERS
    ]
    assert many == []


def is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


def test_the_docstring_of_a_function_begins_with_a_verb() -> None:
    begun = {
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}": (
            ast.get_docstring(function) or "Have"
        ).split()[0]
        for path in sources()
        for function in functions(path)
        if not is_property(function)
    }
    assert [
        where for where, word in begun.items() if word.strip(",:;.") in NO_VERBS or not word[0].isupper()
    ] == []


def saves_rows(source: str) -> bool:
    """What is saved besides is a content in the storage, a picture in a file, or an account by Django's form."""
    for other in ("default_storage.save(", "self.save(path, ContentFile(", "picture.save(", "super().save("):
        source = source.replace(other, "")
    return ".save(" in source


def test_only_the_managers_and_models_save() -> None:
    savers = [
        str(path.relative_to(ROOT))
        for path in sources()
        if saves_rows(path.read_text(encoding="utf-8")) and "models" not in path.parts
    ]
    assert savers == []
