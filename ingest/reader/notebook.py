"""Reads Jupyter notebooks as their cells: Markdown as text, code and its outputs fenced.

The format: https://nbformat.readthedocs.io
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ingest.reader.html import visible_text
from ingest.reader.reading_outcome import ReadText
from ingest.reader.text import decode

_TERMINAL: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")  # colours of tracebacks
_FENCE: Final = re.compile(r"`{3,}")
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,40}")


def read(path: Path) -> ReadText:
    """Read the cells. A file that is no notebook is read as it is."""
    decoded = decode(path.read_bytes())
    try:
        notebook = json.loads(decoded.text)
    except ValueError:
        return decoded.noted(decoded.text)
    if not isinstance(notebook, dict):
        return decoded.noted(decoded.text)
    sheets = [notebook, *_dicts(notebook.get("worksheets"))]  # worksheets: before version 4
    if not any(isinstance(sheet.get("cells"), list) for sheet in sheets):
        return decoded.noted(decoded.text)
    language = _language(notebook.get("metadata"))
    cells = (cell for sheet in sheets for cell in _dicts(sheet.get("cells")))
    return decoded.noted("\n\n".join(block for cell in cells for block in _blocks(cell, language) if block))


def _language(metadata: Any) -> str:
    places = [("language_info", "name"), ("kernelspec", "language")]
    values = (_get(_get(metadata, key), name) for key, name in places)
    return next(
        (value for value in values if isinstance(value, str) and _LANGUAGE.fullmatch(value)), "python"
    )


def _blocks(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input")))
    if cell.get("cell_type") == "heading":  # before version 4
        yield f"{'#' * next((level for level in range(1, 7) if level == cell.get('level')), 1)} {source}"
    elif cell.get("cell_type") != "code":
        yield source
    else:
        yield _fenced(source, language)
        for output in _dicts(cell.get("outputs")):
            yield _output(output)


def _output(output: dict[str, Any]) -> str:
    """Return an output as text, or name what it shows instead."""
    if output.get("output_type") in ("error", "pyerr"):
        traceback = "\n".join(each for each in _list(output.get("traceback")) if isinstance(each, str))
        return _fenced(_TERMINAL.sub("", traceback or f"{output.get('ename')}: {output.get('evalue')}"), "")
    data = output.get("data", output)
    texts = (_get(data, name) for name in ("text/plain", "text", "text/markdown"))
    text = next(filter(None, map(_joined, texts)), "")
    if text:
        return _fenced(text, "")
    if page := _joined(_get(data, "text/html")):
        return visible_text(page)
    kinds = ", ".join(sorted(key for key in data if "/" in key)) if isinstance(data, dict) else ""
    return f"[Output without text: {kinds}]" if kinds else ""


def _fenced(text: str, language: str) -> str:
    if not text.strip():
        return ""
    fence = "`" * max(3, 1 + max(map(len, _FENCE.findall(text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _joined(value: Any) -> str:
    """Return a text, which may be stored as a list of lines."""
    return (
        value if isinstance(value, str) else "".join(each for each in _list(value) if isinstance(each, str))
    )


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [each for each in _list(value) if isinstance(each, dict)]
