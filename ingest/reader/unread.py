"""Lists the contents of an Office document without text, so that it does not pass for a document that was read."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from ingest.reader.office_xml import PICTURE, A, P
from ingest.reader.reading_outcome import ReadText

_VML_PICTURE: Final = "{urn:schemas-microsoft-com:vml}imagedata"
_GRAPHIC: Final = f"{A}graphicData"
_OBJECT: Final = "{urn:schemas-microsoft-com:office:office}OLEObject"
_GRAPHICS: Final = {"diagram": "diagrams", "chart": "charts", "ole": "embedded objects"}
_NAMES: Final = {
    f"{PICTURE}pic": "pictures",
    f"{P}pic": "pictures",
    _VML_PICTURE: "pictures",
    _OBJECT: "embedded objects",
}


def named_if_empty(text: str, roots: Iterable[Any]) -> ReadText:
    """Return the text, or if it is empty, a note with the numbers of unread objects in `roots` (XML elements)."""
    if text.strip():
        return ReadText(text)
    counts: Counter[str] = Counter()
    for root in roots:
        for element in root.iter(*_NAMES, _GRAPHIC):
            name = _NAMES.get(element.tag) or _GRAPHICS.get(element.get("uri", "").rpartition("/")[2])
            if name:
                counts[name] += 1
    shown = ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))
    note = f"; it shows what is not read: {shown}" if shown else ""
    return ReadText("", [f"[Nothing of this document follows: it has no text{note}]"])
