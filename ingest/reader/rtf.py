"""Reads the text of RTF, without its control words."""

from pathlib import Path

from ingest.reader.reading_outcome import Unreadable


def read(path: Path) -> str:
    """Read the text. Raises Unreadable if the file is not RTF."""
    from striprtf.striprtf import rtf_to_text

    # RTF is ASCII: other characters are written as numbers, in code pages that the file names.
    source = path.read_bytes().decode("latin-1")
    if not source.lstrip("\ufeff\r\n\t ").startswith("{\\rtf"):
        raise Unreadable("document_corrupt")
    # The library searches links line by line: with several on a line, it loses all addresses but the last, and takes
    # quadratic time.
    source = source.replace("{\\field", "\n{\\field")
    text: str = rtf_to_text(source, errors="replace")  # type: ignore[no-untyped-call]
    return text.replace("|\n", "\n").strip()
