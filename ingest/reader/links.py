"""Links of documents as Markdown, as the main text of pages has them. Pure."""

import re
from typing import Final

# What leads somewhere: neither places in the document, nor files of whoever wrote it.
_LEADS_OUT: Final = re.compile(r"(?:https?|ftp)://\S|(?:mailto|tel):\S", re.IGNORECASE)
_MAX_TARGET: Final = 2_000
_UNSAFE: Final = re.compile(r"[\s()<>]")
_INSTRUCTION: Final = re.compile(r'\s*HYPERLINK\s+"([^"]+)"', re.IGNORECASE)
_FORMULA: Final = re.compile(r'=\s*HYPERLINK\(\s*"([^"]+)"', re.IGNORECASE)


def with_target(text: str, target: str) -> str:
    """The text alone if it says where it leads, or if that is nowhere."""
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
    """Of a field of Word; empty: it is no link."""
    found = _INSTRUCTION.match(instruction)
    return found[1] if found else ""


def target_of_formula(formula: str) -> str:
    """Of a formula of Excel; empty: it is no link."""
    found = _FORMULA.match(formula)
    return found[1] if found else ""
