"""References between static files: imports of JavaScript modules, and `url()` and `@import` of CSS. Pure.

Only relative references to existing static files count. All others are left unchanged.
"""

import posixpath
import re
from collections.abc import Callable, Container, Iterator
from pathlib import PurePosixPath

# Static imports are at the start of a line, so type imports in comments do not match. A dynamic import that is followed
# by the name of a type belongs to JSDoc.
_JAVASCRIPT = re.compile(
    r"""(?:^(?:import|export)\b(?:[^;"']*\bfrom)?\s*|\bimport\(\s*)"""
    r"""(?P<quote>["'])(?P<target>\.{1,2}/[^"'?#]+)(?P=quote)(?!\s*\)\.[A-Z])""",
    re.MULTILINE,
)
_CSS = re.compile(
    r"""(?:\burl\(\s*["']?|@import\s*["'])(?P<target>(?![a-z]+:|/|\#)[^"'?\#)\s]+)""", re.IGNORECASE
)
_PATTERNS = {".js": _JAVASCRIPT, ".css": _CSS}


def references(name: str, text: str, names: Container[str]) -> Iterator[str]:
    """Yield the files of `names` to which the file `name` refers. Names are paths below STATIC_URL."""
    pattern = _PATTERNS.get(PurePosixPath(name).suffix)
    for match in pattern.finditer(text) if pattern else ():
        target = _resolve(name, match["target"])
        if target in names:
            yield target


def with_references(name: str, text: str, renamed: Callable[[str], str | None]) -> str:
    """Return `text` with the new names of referenced files, which remain in the same folder.
    renamed: returns the new name of a file; None leaves the reference unchanged.
    """
    pattern = _PATTERNS.get(PurePosixPath(name).suffix)

    def replacement(match: re.Match[str]) -> str:
        new = renamed(_resolve(name, match["target"]))
        if new is None:
            return match[0]
        target = posixpath.join(posixpath.dirname(match["target"]), posixpath.basename(new))
        start, end = (place - match.start() for place in match.span("target"))
        return match[0][:start] + target + match[0][end:]

    return pattern.sub(replacement, text) if pattern else text


def _resolve(name: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
