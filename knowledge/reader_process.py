"""Starts the process that reads one hostile file: a fresh interpreter without secrets, which limits itself (ingest/reader).

It gets a folder with `content`, and leaves `outcome.json` there, beside what that names. Named by its module, as tasks are by
theirs: who starts it imports nothing that parses files.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

_MODULE: Final = "ingest.reader"
_ROOT: Final = Path(__file__).parents[1]
# The content type of an HTML page of which the main text is wanted; `address` is its URL, for the links in it.
MAIN_TEXT: Final = "text/html;part=main"
# In the folder, where scanned pages are to be recognised: the path of Tesseract and its languages, on two lines.
OCR_FILE: Final = "ocr"


def start_reader(content_type: str, folder: Path) -> "subprocess.Popen[bytes]":
    """Read `folder`/content as this type. What it prints goes to `folder`/log. Raises OSError."""
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(  # noqa: S603  our own program
            [sys.executable, "-m", _MODULE, content_type, str(folder)],
            cwd=_ROOT, env=_environment(folder),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def end_of_log(folder: Path) -> str:
    return (folder / "log").read_bytes()[-2000:].decode(errors="replace")


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of this process's own, which holds secrets."""
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(folder),
        "TMPDIR": str(folder),
    }
