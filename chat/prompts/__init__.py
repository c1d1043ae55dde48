"""The texts that ship with Turnwire. system.md: the base prompt, until staff edits it (models/system_prompt.py)."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def default_system_prompt() -> str:
    return (_FOLDER / "system.md").read_text(encoding="utf-8").strip()
