"""Static files finder for third-party browser modules: the served files of node_modules and their paths.

No other file of node_modules is served. A new module needs a line here and one in the import map (import_map.html).
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.contrib.staticfiles.utils import matches_patterns
from django.core.files.storage import FileSystemStorage, Storage

# The languages that highlighter.js names.
LANGUAGES = [
    "bash",
    "c",
    "cpp",
    "csharp",
    "css",
    "diff",
    "go",
    "graphql",
    "ini",
    "java",
    "javascript",
    "json",
    "kotlin",
    "less",
    "lua",
    "makefile",
    "markdown",
    "objectivec",
    "perl",
    "php",
    "php-template",
    "plaintext",
    "python",
    "python-repl",
    "r",
    "ruby",
    "rust",
    "scss",
    "shell",
    "sql",
    "swift",
    "typescript",
    "vbnet",
    "wasm",
    "xml",
    "yaml",
]
# Path below STATIC_URL → file below node_modules. Modules end in .js: not every server knows .mjs.
MODULES = {
    # Not one of the page's modules, but a script of the frame that draws diagrams (preview.py).
    "preview/mermaid.js": "mermaid/dist/mermaid.min.js",
    "vendor/d3-hierarchy.js": "d3-hierarchy/dist/d3-hierarchy.min.mjs",
    "vendor/dompurify.js": "dompurify/dist/purify.es.mjs",
    "vendor/highlight.js": "@highlightjs/cdn-assets/es/core.min.js",
    "vendor/marked.js": "marked/lib/marked.esm.js",
    "vendor/noto-sans-math.woff2": "@fontsource/noto-sans-math/files/noto-sans-math-latin-400-normal.woff2",
    "vendor/temml.js": "temml/dist/temml.mjs",
    **{
        f"vendor/languages/{name}.js": f"@highlightjs/cdn-assets/es/languages/{name}.min.js"
        for name in LANGUAGES
    },
}


class VendorFinder(BaseFinder):
    """A finder of MODULES for the development server and collectstatic; a missing file is not found."""

    def find(self, path: str, find_all: bool = False, **_kwargs: Any) -> Any:
        file = _file(path)
        if file is None:
            return []  # as Django expects from a finder without a match, for either value of find_all
        return [str(file)] if find_all else str(file)

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:
        for address in MODULES:
            if _file(address) and not matches_patterns(address, list(ignore_patterns or ())):
                # The default location would be MEDIA_ROOT.
                yield address, _Renamed(location=settings.BASE_DIR / "node_modules")


class _Renamed(FileSystemStorage):
    """A storage that reads a module by its path below STATIC_URL, which is the name that collectstatic passes."""

    prefix = ""

    def path(self, name: str) -> str:
        return str(_file(name) or name)


def _file(address: str) -> Path | None:
    if address not in MODULES:
        return None
    file: Path = settings.BASE_DIR / "node_modules" / MODULES[address]
    return file if file.is_file() else None
