"""Replaces NUL and lone surrogates, which Postgres and JSON cannot store. Pure."""

import re

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_BAD = re.compile("[\x00\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class Sanitiser:
    """Cleans one stream of deltas: a high surrogate at the end of a delta waits for its low surrogate in the next."""

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
        """Return the replacement of a surrogate that was never completed; empty if there is none."""
        left, self._half = self._half, ""
        return REPLACEMENT if left else ""


def clean(text: str) -> str:
    """Sanitise a complete text."""
    whole = Sanitiser()
    return whole.clean(text) + whole.flush()


def _join(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")
