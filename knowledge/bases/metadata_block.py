"""Renders the metadata of the knowledge bases that a turn searches, a block of the model's dynamic context. Pure.

Members of the bases write the names and texts. Each base takes one line, and names are short and contain no markup, so
that none can pass for another line or for the end of the block.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from knowledge.bases.bound_bases import BoundBase, BoundBases
from knowledge.models.knowledge_base import MAX_HINT_CHARACTERS, MAX_KEYWORD_CHARACTERS, MAX_KEYWORDS

MAX_NAME_CHARACTERS: Final = 120
# With so many bases or more, summaries are shortened.
MANY_BASES: Final = 3
SHORT_SUMMARY_CHARACTERS: Final = 200

HEADING: Final = "# Knowledge bases"
NOTE: Final = "This is metadata of this request only, and not what the documents say: what they say is found by searching them."
RESTRICTED_NOTE: Final = (
    "This is metadata of this request only. Hints and keywords are only for writing queries and for choosing a knowledge "
    "base: they are never content of an answer, and say nothing about what the documents hold."
)
_MARKUP: Final = frozenset("{}[]<>`")


def render_bases(bound: BoundBases) -> str:
    """Render the block; empty if no base is bound."""
    if not bound.bases:
        return ""
    if bound.is_restricted:
        lines, note = [_restricted_line(base) for base in bound.bases], RESTRICTED_NOTE
    else:
        is_short = len(bound.bases) >= MANY_BASES
        lines, note = [_line(base, is_short=is_short) for base in bound.bases], NOTE
    return "\n\n".join([HEADING, "\n".join(lines), note])


def clean_name(name: str) -> str:
    """Remove markup and control characters from a name, and cut it to MAX_NAME_CHARACTERS."""
    plain = "".join(" " if one in _MARKUP or _is_control(one) else one for one in name)
    return " ".join(plain.split())[:MAX_NAME_CHARACTERS].rstrip() or "Unnamed"


def _line(base: BoundBase, *, is_short: bool) -> str:
    if base.role is None:
        return _unknown_line(base)
    summary = _one_line(base.summary)
    parts = [
        f"{_head(base)}: {_count(base)}.",
        f"Summary: {_ended(_shortened(summary) if is_short else summary)}" if summary else "",
        f"Topics: {_listed(base.topics)}." if _listed(base.topics) else "",
    ]
    return " ".join(filter(None, parts))


def _restricted_line(base: BoundBase) -> str:
    if base.role is None:
        return _unknown_line(base)
    hint = _one_line(base.routing_hint)[:MAX_HINT_CHARACTERS]
    keywords = _listed([word[:MAX_KEYWORD_CHARACTERS] for word in base.routing_keywords[:MAX_KEYWORDS]])
    parts = [
        f"{_head(base)}.",
        f"Hint: {_ended(hint)}" if hint else "",
        f"Keywords: {keywords}." if keywords else "",
    ]
    return " ".join(filter(None, parts))


def _head(base: BoundBase) -> str:
    return f"- {clean_name(base.name)} (id {base.id})"


def _unknown_line(base: BoundBase) -> str:
    return f"- Unknown (id {base.id}): it does not exist any more, or may not be searched."


def _count(base: BoundBase) -> str:
    counted = f"{base.ready} document{'' if base.ready == 1 else 's'}"
    return f"{counted}, {base.processing} more being read" if base.processing else counted


def _listed(texts: Sequence[str]) -> str:
    return "; ".join(filter(None, map(_one_line, texts)))


def _one_line(text: str) -> str:
    return " ".join("".join(" " if _is_control(one) else one for one in text).split())


def _shortened(text: str) -> str:
    if len(text) <= SHORT_SUMMARY_CHARACTERS:
        return text
    whole_words, _, rest = text[:SHORT_SUMMARY_CHARACTERS].rpartition(" ")
    return f"{whole_words or rest} …"


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _is_control(character: str) -> bool:
    """Return whether a character is a control character, a line separator or a mark of the direction of text.
    Some readers take a line separator for the end of a line.
    """
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")


# Digits of all scripts, quotation marks, `#` before a heading, line breaks and other control characters.
_NUMBERS: Final = r"[\d\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2089\u2150-\u218b\u2460-\u24ff\u2776-\u2793]"
_QUOTATIONS: Final = r"""["`\u00ab\u00bb\u201a\u201c-\u201f\u2039\u203a\u300c-\u300f\uff02]"""
# An apostrophe stands between letters.
_SINGLE_QUOTATIONS: Final = r"(^|[^\w])['\u2018\u2019\u201b]|['\u2018\u2019\u201b]($|[^\w])"
_HEADINGS: Final = r"(^|\s)#|[\u0000-\u001f\u007f-\u009f\u2028\u2029]"
# A hint must not match this, which is also used as a pattern of JSON Schema.
REFUSED_PATTERN: Final = f"{_NUMBERS}|{_QUOTATIONS}|{_SINGLE_QUOTATIONS}|{_HEADINGS}"
_REFUSED: Final = re.compile(REFUSED_PATTERN)


def is_routing_hint(text: str) -> bool:
    """Return whether restricted members and their models may read the text as a hint or keyword.

    Hints name the subject of a base, and never contain statements of its documents: no numbers, quotations or headings.
    """
    return not _REFUSED.search(text)
