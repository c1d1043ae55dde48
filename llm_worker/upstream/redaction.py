"""Removes secrets and control characters from what model servers say. Pure.

Servers quote keys, addresses with passwords and e-mail addresses in their errors. Redacts too much rather than too
little.
"""

import re
import unicodedata
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

REDACTED: Final = "[redacted]"
# Shorter beginnings of a key occur in ordinary texts.
SHORTEST_QUOTED_KEY: Final = 6
# Bounds the work on what an arbitrary server sends.
MAX_INPUT_CHARACTERS: Final = 20_000

_RULES: Final = (
    # User and password in an address, before the rule for e-mail addresses
    (re.compile(r"://[^\s/@\"'<>]{1,500}@"), f"://{REDACTED}@"),
    (re.compile(r"[\w.+%-]{1,64}@\w[\w-]{0,62}(?:\.[\w-]{1,63})*"), REDACTED),
    (re.compile(r"\b(bearer)\s+[\w.~+/=*-]{3,}", re.IGNORECASE), rf"\1 {REDACTED}"),
    (re.compile(r"\b(basic)\s+[A-Za-z0-9+/=]{16,}", re.IGNORECASE), rf"\1 {REDACTED}"),
    # Keys with the usual prefixes, also where the server masked a part of them
    (
        re.compile(r"\b(?:sk|pk|rk|gsk|hf|xai|xox[abp]|gh[opsu]|github_pat|nvapi|r8)[-_][\w.*…-]{3,}"),
        REDACTED,
    ),
    (re.compile(r"\b(?:AIza|AKIA|ASIA|eyJ)[\w.*-]{10,}"), REDACTED),
    # "api_key": "…", password=…, token: …
    (
        re.compile(
            r"((?:api[-_ ]?key|access[-_ ]?key|secret|password|passwd|credentials?|authorization|signature|\btoken)"
            r"(?:\s+provided|\s+is)?[\"']?\s*[:=]\s*[\"']?)([^\s\"',;&]{6,})",
            re.IGNORECASE,
        ),
        rf"\1{REDACTED}",
    ),
    # Long mixtures of letters and digits; a UUID, which names a request, has shorter ones
    (re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{20,}"), REDACTED),
    (re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{40,}"), REDACTED),
)


def redact(text: str, keys: Iterable[str] = (), *, limit: int) -> str:
    """Return one line of at most `limit` characters without secrets. keys: the keys that were sent to the server."""
    line = _to_line(text[:MAX_INPUT_CHARACTERS])
    for key in keys:
        line = _without_key(line, key)
    for pattern, replacement in _RULES:
        line = pattern.sub(replacement, line)
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _to_line(text: str) -> str:
    """Remove control, format and surrogate characters, among them NUL; white space becomes a space."""
    visible = (
        " " if character.isspace() else character
        for character in text
        if character.isspace() or unicodedata.category(character) not in ("Cc", "Cf", "Cs")
    )
    return " ".join("".join(visible).split())


def _without_key(text: str, key: str) -> str:
    """Redact the key, and a beginning of it: servers quote a part of a key that they refuse."""
    if len(key) < SHORTEST_QUOTED_KEY:
        return text
    beginning, rest = re.escape(key[:SHORTEST_QUOTED_KEY]), key[SHORTEST_QUOTED_KEY:]

    def quoted(match: re.Match[str]) -> str:
        following = text[match.end() : match.end() + len(rest)]
        return match.group() + following[: _common(following, rest)]

    found = sorted({quoted(match) for match in re.finditer(beginning, text)}, key=len, reverse=True)
    for part in found:
        text = text.replace(part, REDACTED)
    return text


def _common(one: str, other: str) -> int:
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return length


def describe(text: str) -> dict[str, int | str]:
    """Describe a text that must not be shown by its length in characters, and a hash."""
    return {"length": len(text), "sha256": sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}
