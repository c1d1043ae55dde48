"""Real texts in any number, for searches among many: man pages, docstrings, Markdown and change logs of the machine.

The machine determines the texts; on one machine they are the same each time, in the same order.
"""

import ast
import gzip
import json
import os
import random
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

SEED: Final = 7
# Shorter chunks contain little information.
LEAST_CHARACTERS: Final = 250
MOST_CHARACTERS: Final = 200_000
MOST_OF_FAMILY: Final = 50
# The part of a chunk that is embedded, after its overlap with the previous chunk: a whole chunk would take five times
# as long.
EMBEDDED: Final = slice(200, 400)
_TEXTS: Final = frozenset({".md", ".rst", ".txt", ".py", ".gz"})
_MAN_PAGE: Final = re.compile(r"\.[1-8][a-z]*\.gz$")


def read_chunks(folders: Sequence[Path], count: int) -> list[str]:
    """Return distinct chunks, split as by the application, of the files of these folders in random order (SEED)."""
    from knowledge.texts.chunking import split_chunks

    found = (
        Path(parent, name) for folder in folders for parent, _, names in os.walk(folder) for name in names
    )
    paths = sorted(path for path in found if path.suffix in _TEXTS)
    random.Random(SEED).shuffle(paths)
    texts = (text for path in _some_of_each(paths) for text in _texts_in(path))
    chunks = (
        chunk.text.replace("\0", " ") for text in texts for chunk in split_chunks(text[:MOST_CHARACTERS])
    )
    return list(islice(dict.fromkeys(one for one in chunks if len(one) >= LEAST_CHARACTERS), count))


def kept_chunks(folders: Sequence[Path], count: int, path: Path) -> list[str]:
    """Return the chunks as read_chunks() does, and cache them in `path`."""
    if not path.exists():
        path.write_text(json.dumps(read_chunks(folders, count)))
    kept: list[str] = json.loads(path.read_text())
    return kept[:count]


def embed(name: str, texts: Sequence[str], path: Path) -> Any:
    """Return a row for each text, by a packaged model. Rows are cached in `path`; an interrupted call can be repeated."""
    import numpy as np

    from knowledge.search.embedders.packaged import BATCH, PACKAGED

    embedder = PACKAGED[name]()
    size = len(embedder.embed_passages(["dimensions"])[0])
    mode = "r+" if path.exists() else "w+"
    rows = np.memmap(path, dtype="float32", mode=mode, shape=(len(texts), size))
    done = int(rows.any(axis=1).sum())
    for at in range(done, len(texts), BATCH):
        pieces = [text[EMBEDDED] for text in texts[at : at + BATCH]]
        rows[at : at + BATCH] = embedder.embed_passages(pieces)
    rows.flush()
    return rows


def _some_of_each(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield at most MOST_OF_FAMILY pages of one program, whose names begin alike and which are almost the same."""
    seen = Counter[tuple[Path, str]]()
    for path in paths:
        family = (path.parent, re.split(r"[-_.]", path.name)[0])
        seen[family] += 1
        if seen[family] <= MOST_OF_FAMILY:
            yield path


def _texts_in(path: Path) -> Iterator[str]:
    try:
        content = path.read_bytes()
    except OSError:  # a broken link
        return
    if path.suffix == ".gz":
        plain = gzip.decompress(content).decode(errors="replace")
        yield _without_markup(plain) if _MAN_PAGE.search(path.name) else plain
    elif path.suffix == ".py":
        yield "\n\n".join(_docstrings(content))
    else:
        yield content.decode(errors="replace")


def _without_markup(page: str) -> str:
    """Return a man page as sentences, without requests, comments and fonts."""
    lines = (line for line in page.splitlines() if not line.startswith(("'", '.\\"')))
    plain = (re.sub(r"^\.[A-Za-z]+ ?", "", line) for line in lines)
    return "\n".join(re.sub(r"\\f.|\\-|\\&|\\\((..)", "", line) for line in plain)


def _docstrings(source: bytes) -> list[str]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            return []
    found = (ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, documented))
    return [text for text in found if text]
