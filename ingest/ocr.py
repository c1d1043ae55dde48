"""Recognition of scanned pages by Tesseract, which the operator installs, in the languages of the setting OCR."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from django.conf import settings

from knowledge.files.reader_process import OCR_FILE

_PROGRAM: Final = "tesseract"
_LISTING_LIMIT_S: Final = 30


def tell_reader(folder: Path) -> bool:
    """Write the program and the languages for scanned pages into a file's folder; return whether OCR is used."""
    program = shutil.which(_PROGRAM)
    if not settings.OCR or program is None:
        return False
    (folder / OCR_FILE).write_text(f"{program}\n{settings.OCR}\n")
    return True


def find_problem() -> str:
    """Return in words why the setting OCR cannot be followed; empty if it can, or if OCR is off."""
    if not settings.OCR:
        return ""
    program = shutil.which(_PROGRAM)
    if program is None:
        return f"needs the program {_PROGRAM}, which is not installed (Debian: tesseract-ocr)"
    listing = subprocess.run(  # noqa: S603  the operator's program
        [program, "--list-langs"], capture_output=True, text=True, timeout=_LISTING_LIMIT_S, check=False
    )
    installed = set(listing.stdout.split("\n")[1:])
    missing = [one for one in settings.OCR.split("+") if one not in installed]
    return f"names languages that Tesseract does not have here: {', '.join(missing)}" if missing else ""
