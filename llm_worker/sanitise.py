"""Text that Postgres, JSON and browsers can take: no NUL and no lone surrogate leaves this module. Pure."""

import math
import re
from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# What a person or a sane model nests; encoders and databases give up somewhere above.
DEEPEST_JSON = 64
_BAD = re.compile("[\x00\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class Sanitiser:
    """For one stream of deltas: half an emoji at the end of one delta waits for its other half in the next."""

    def __init__(self) -> None:
        self._half = ""

    def clean(self, text: str) -> str:
        if self._half:
            text, self._half = self._half + text, ""
        if not _BAD.search(text):
            return text
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return _BAD.sub(REPLACEMENT, _PAIR.sub(_join, text))

    def flush(self) -> str:
        """What waited and will never be completed."""
        left, self._half = self._half, ""
        return REPLACEMENT if left else ""


def clean(text: str) -> str:
    """A whole text."""
    whole = Sanitiser()
    return whole.clean(text) + whole.flush()


def clean_json(value: Any, depth: int = DEEPEST_JSON) -> Any:
    """A decoded JSON value: every text in it, keys included. Raises ValueError if it cannot be stored as JSON."""
    if depth < 0:
        raise ValueError(f"nested more than {DEEPEST_JSON} deep")
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [clean_json(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {clean(name): clean_json(item, depth - 1) for name, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a number in JSON")
    return value


def _join(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")
