"""The fixed prompt texts besides the base prompt, one Markdown file each.

Not editable at run time: a change is a release.
"""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def prompt(name: str) -> str:
    """Return the text of `name`.md."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
