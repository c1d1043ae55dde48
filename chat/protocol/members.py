"""Members that several bodies of requests have. Pure."""

import sys
import unicodedata
from functools import cache
from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import Meta

from chat.protocol.body import rule
from chat.protocol.errors import ApiError
from chat.protocol.strict_json import UNSTORABLE_PATTERN

MAX_MODELS: Final = 4
MAX_KNOWLEDGE_BASES: Final = 20
MAX_USER_NAME: Final = 150
# Days after which something ends: at most ten years.
LifetimeDays = Annotated[int, Meta(ge=1, le=3650)]
# Control, format (zero-width) and separator characters, and letters without a visible glyph.
_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Stands for invisible_text_pattern() until the document is written, since that takes a tenth of a second.
INVISIBLE: Final = "invisible"


def has_visible_text(text: str) -> bool:
    """Return whether the text has a visible character."""
    return any(_is_visible(character) for character in text)


def _is_visible(character: str) -> bool:
    return character not in _INVISIBLE and unicodedata.category(character) not in _INVISIBLE_CATEGORIES


@cache
def invisible_text_pattern() -> str:
    """Return a JSON Schema pattern that matches texts without a visible character. Takes a tenth of a second, once."""
    ranges: list[tuple[int, int]] = []
    for code in range(sys.maxunicode + 1):
        if _is_visible(chr(code)):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    invisible = "".join(f"{_escape(first)}-{_escape(last)}" for first, last in ranges)
    return f"^[{invisible}]*$"


def _escape(code: int) -> str:
    """Escape a code point for the pattern; above U+FFFF literally, since no escape is known to all regex dialects."""
    return f"\\u{code:04x}" if code <= 0xFFFF else chr(code)


def matches_none(*patterns: str) -> dict[str, Any]:
    """Return the keyword of JSON Schema for a text that can be stored and matches none of the patterns."""
    return {"not": {"anyOf": [{"pattern": pattern} for pattern in (UNSTORABLE_PATTERN, *patterns)]}}


def check_visible(text: str, code: str = "invalid_value") -> str:
    if not has_visible_text(text):
        raise ApiError(code)
    return text


def _check_models(least: int) -> Meta:
    def check(models: list[str]) -> list[str]:
        if not least <= len(models) <= MAX_MODELS or len(set(models)) != len(models):
            raise ApiError("models_invalid")
        return models

    keywords = {"minItems": least, "maxItems": MAX_MODELS, "uniqueItems": True}
    return rule(check, keywords, null="models_invalid")


def _remove_repeated(values: list[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


# A repeated value of the list counts once.
DISTINCT: Final = rule(_remove_repeated)
# A text with visible characters.
Visible = Annotated[str, rule(check_visible, matches_none(INVISIBLE))]
# A text that is not empty.
Text = Annotated[str, Meta(min_length=1)]
# Ids of knowledge bases. Whether the user is a member is checked when they are used.
KnowledgeBases = Annotated[list[UUID], Meta(max_length=MAX_KNOWLEDGE_BASES), DISTINCT]
# Whether the user exists is checked when the name is used.
UserName = Annotated[Visible, Meta(max_length=MAX_USER_NAME)]
_ModelName = Annotated[str, Meta(max_length=200)]
# Distinct names of models, at most as many as may answer together. Whether they exist is checked when they are used.
Models = Annotated[list[_ModelName], _check_models(0)]
SomeModels = Annotated[list[_ModelName], _check_models(1)]
