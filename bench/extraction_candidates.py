"""Script for `bench.extraction --others` that reads a folder of files with the installed libraries.

`python bench/extraction_candidates.py FOLDER` prints a line of JSON for each library and file. It imports nothing of
this project, and names no library that the project would have to install.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def pypdf(path: Path) -> str:
    return "\n".join(page.extract_text() for page in import_module("pypdf").PdfReader(path).pages)


def docx2txt(path: Path) -> str:
    return str(import_module("docx2txt").process(str(path)))


def kreuzberg(path: Path) -> str:
    return str(import_module("kreuzberg").extract_file_sync(path).content)


def markitdown() -> Callable[[Path], str]:
    converter: Any = import_module("markitdown").MarkItDown()
    return lambda path: str(converter.convert(str(path)).text_content)


def candidates() -> dict[str, tuple[Callable[[Path], str], str]]:
    """Return, by name of the library, the function and the only extension that it reads; empty for all extensions."""
    found: dict[str, tuple[Callable[[Path], str], str]] = {}
    for name, make, extension in (
        ("pypdf", lambda: pypdf, ".pdf"),
        ("docx2txt", lambda: docx2txt, ".docx"),
        ("kreuzberg", lambda: kreuzberg, ""),
        ("markitdown", markitdown, ""),
    ):
        try:
            import_module(name)
        except ImportError as error:
            print(f"{name} is not measured: {error}", file=sys.stderr)
        else:
            found[name] = make(), extension
    return found


def main(folder: Path) -> None:
    for name, (read, extension) in candidates().items():
        for path in sorted(folder.iterdir()):
            if not path.name.endswith(extension):
                continue
            began = time.process_time()
            try:
                text = read(path)
            except Exception as error:  # noqa: BLE001  whatever a library raises is no text
                print(f"{name} {path.name}: {error!r:.200}", file=sys.stderr)
                text = ""
            milliseconds = (time.process_time() - began) * 1000
            print(json.dumps([name, path.name, milliseconds, text]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
