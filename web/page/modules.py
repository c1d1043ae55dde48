"""Which modules the page needs before it can start: all that page.js imports, directly or not.

Told in the head of the page, so that a browser asks for all of them at once instead of discovering them one import
after the other. What is loaded later (`import()`) is not among them.
"""

import re
from functools import cache
from pathlib import Path

from django.conf import settings

FIRST = "page.js"
# At the beginning of a line: imports of types stand in comments.
_IMPORT = re.compile(
    r'^(?:import|export)\b(?:[^;"]*\bfrom)?\s*"(?:(?P<own>\.{1,2}/[\w./-]+)|(?P<third>[\w-]+))";',
    re.MULTILINE,
)


@cache
def modules() -> tuple[str, ...]:
    """Addresses below STATIC_URL, in the order in which they are found."""
    folder = Path(settings.BASE_DIR, "web", "static").resolve()
    found = dict.fromkeys([folder / "chat" / FIRST])
    third: dict[str, None] = {}
    waiting = list(found)
    while waiting:
        own, others = _imports(waiting.pop(0))
        new = [file for file in own if file not in found]
        found.update(dict.fromkeys(new))
        third.update(dict.fromkeys(others))
        waiting.extend(new)
    return (
        *(file.relative_to(folder).as_posix() for file in found),
        *(f"vendor/{name}.js" for name in third),
    )


def _imports(file: Path) -> tuple[list[Path], list[str]]:
    """Our own modules, and third-party ones by their names in the import map."""
    matches = list(_IMPORT.finditer(file.read_text(encoding="utf-8")))
    own = [(file.parent / m["own"]).resolve() for m in matches if m["own"]]
    return own, [m["third"] for m in matches if m["third"]]
