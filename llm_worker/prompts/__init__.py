"""The texts models are given besides the base prompt, each a file; an edit is a release."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def prompt(name: str) -> str:
    """The text of `name`.md."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
