"""Documents as a model reads them, and the numbers that stand for them. Pure."""

import json
from collections.abc import Sequence
from typing import Any

from chat.transcript import Document

LEAD = "Here are some documents provided for context, they may not all be relevant:"


def render(documents: Sequence[Document]) -> str:
    """The lead and one JSON object, `{"documents": […]}`, keys always in the same order."""
    listed = {"documents": [_shown(document) for document in documents]}
    return f"{LEAD}\n{json.dumps(listed, ensure_ascii=False)}"


def _shown(document: Document) -> dict[str, Any]:
    shown: dict[str, Any] = {"document": document.number, "title": document.title}
    if document.url:
        shown["url"] = document.url
    if document.metadata:
        shown["metadata"] = dict(document.metadata)
    return shown | {"contents": document.contents}
