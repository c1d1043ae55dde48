"""The list of scripts that the page needs to start: all that page.js imports, directly or indirectly.

The head of the page preloads them, so that a browser requests all of them at once instead of discovering them import by
import. Modules loaded on demand (`import()`) are not included.
"""

import re
from functools import cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage

FIRST = "page.js"
# Only at the start of a line: type imports are in comments.
_IMPORT = re.compile(
    r'^(?:import|export)\b(?:[^;"]*\bfrom)?\s*"(?:(?P<own>\.{1,2}/[\w./-]+)|(?P<third>[\w-]+))";',
    re.MULTILINE,
)


def script_urls() -> list[str]:
    """Return the URLs of the bundle's scripts, or of the source modules if no files were collected."""
    collected: dict[str, list[str]] = getattr(staticfiles_storage, "scripts", {})
    return [staticfiles_storage.url(name) for name in collected.get(f"chat/{FIRST}") or modules()]


@cache
def modules() -> tuple[str, ...]:
    """Return paths below STATIC_URL, in the order in which they are found."""
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
    """Return the project's modules that a file imports, and the names of third-party modules in the import map."""
    matches = list(_IMPORT.finditer(file.read_text(encoding="utf-8")))
    own = [(file.parent / m["own"]).resolve() for m in matches if m["own"]]
    return own, [m["third"] for m in matches if m["third"]]
