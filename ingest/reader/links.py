"""Formats links of documents as Markdown, as in the main text of pages. Pure."""

import re
from typing import Final

# External targets: neither places in the document nor files of its author.
_LEADS_OUT: Final = re.compile(r"(?:https?|ftp)://\S|(?:mailto|tel):\S", re.IGNORECASE)
_MAX_TARGET: Final = 2_000
_UNSAFE: Final = re.compile(r"[\s()<>]")
_INSTRUCTION: Final = re.compile(r'\s*HYPERLINK\s+"([^"]+)"', re.IGNORECASE)
_FORMULA: Final = re.compile(r'=\s*HYPERLINK\(\s*"([^"]+)"', re.IGNORECASE)


def with_target(text: str, target: str) -> str:
    """Return the text as a Markdown link, or alone if it already is the target, or if the target is not external."""
    target = target.strip()
    if not _LEADS_OUT.match(target) or len(target) > _MAX_TARGET:
        return text
    words = text.strip()
    if not words or words in (target, target.removeprefix("mailto:"), target.rstrip("/")):
        return text
    start = text.index(words)
    safe = _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", target)
    return f"{text[:start]}[{words}]({safe}){text[start + len(words) :]}"


def target_of_field(instruction: str) -> str:
    """Return the target of a field of Word; empty if the field is not a link."""
    found = _INSTRUCTION.match(instruction)
    return found[1] if found else ""


def target_of_formula(formula: str) -> str:
    """Return the target of a formula of Excel; empty if the formula is not a link."""
    found = _FORMULA.match(formula)
    return found[1] if found else ""
