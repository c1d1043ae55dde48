"""Starts the process that reads one untrusted file: a fresh interpreter without secrets, with limits (ingest/reader).

It gets a folder with `content`, and writes `outcome.json` there, with the files that the outcome names. It is started
by the name of its module, so that its parent imports nothing that parses files.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

_MODULE: Final = "ingest.reader"
_ROOT: Final = Path(__file__).parents[2]
# The content type for the main text of an HTML page. The file `address` has the URL of the page, for the links in it.
MAIN_TEXT: Final = "text/html;part=main"
# A file in the folder if scanned pages are to be recognised: the path of Tesseract and its languages, on two lines.
OCR_FILE: Final = "ocr"


def start_reader(content_type: str, folder: Path) -> "subprocess.Popen[bytes]":
    """Start a process that reads `folder`/content as this type. Its output goes to `folder`/log. Raises OSError."""
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(  # noqa: S603  our own program
            [sys.executable, "-m", _MODULE, content_type, str(folder)],
            cwd=_ROOT, env=_environment(folder),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def end_of_log(folder: Path) -> str:
    return (folder / "log").read_bytes()[-2000:].decode(errors="replace")


def _environment(folder: Path) -> dict[str, str]:
    """Build an environment without variables of this process, which has secrets."""
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(folder),
        "TMPDIR": str(folder),
    }
