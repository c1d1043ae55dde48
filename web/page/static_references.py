"""References between static files: imports of JavaScript modules, and `url()` and `@import` of CSS. Pure.

Only references to other static files count: relative ones, to files that there are. All others are left as they are.
"""

import posixpath
import re
from collections.abc import Callable, Container, Iterator
from pathlib import PurePosixPath

# Static imports stand at the start of a line, so those of types in comments do not match; a dynamic import that is followed
# by the name of a type is JSDoc's.
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
    """Return which of `names` the file `name` refers to. Names are paths below STATIC_URL."""
    pattern = _PATTERNS.get(PurePosixPath(name).suffix)
    for match in pattern.finditer(text) if pattern else ():
        target = _resolve(name, match["target"])
        if target in names:
            yield target


def with_references(name: str, text: str, renamed: Callable[[str], str | None]) -> str:
    """Return `text` with the references to files that `renamed` gives another name, in the same folder."""
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
