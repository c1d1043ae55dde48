"""The text of an answer as one text to read, with a paragraph break at each round of tools. Pure.

A message's `text` is the streamed text, in which the text after a round begins with `paragraph_break`. Code that shows or
passes on the text without the rounds in between uses `readable_text`, since answers of earlier versions and of other
systems lack the break, and a code block may be open;
`web/static/chat/state/passages.js` does the same for the page, and both pass tests/chat/transcript/passages.json.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

# The markers of lists and quotations before a fence, its own mark, and the rest of its line.
_FENCE: Final = re.compile(r"([ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]+|>)*)(`{3,}|~{3,})(.*)")
_BLANK_LINES: Final = re.compile(r"(?:[ \t\r]*\n)+")


def readable_text(text: str, rounds: Iterable[tuple[int, str]]) -> str:
    """Return the text of an answer with its paragraph breaks.

    rounds: turn_number and text_before of its top-level calls, oldest first; parallel calls have equal pairs.
    """
    return join_passages(_passages(text, dict(rounds).values()))


def paragraph_break(before: str, text: str) -> str:
    """Return the line ends that are missing between a text and the paragraph that follows it."""
    blank = before[len(before.rstrip()) :] + text[: len(text) - len(text.lstrip())]
    return "\n" * (2 - blank.count("\n"))


def without_break(text: str) -> str:
    """Return the text of a passage as its model wrote it, without the line ends before it."""
    return text.lstrip("\n")


def join_passages(passages: Iterable[str]) -> str:
    """Join passages as paragraphs. Blank ones are left out, and a code block that a passage leaves open is closed."""
    joined = ""
    for passage in passages:
        if not joined:
            joined = passage if passage.strip() else ""
        elif passage.strip():
            blank = _BLANK_LINES.match(passage)
            joined = f"{close_code_block(joined.rstrip())}\n\n{passage[blank.end() if blank else 0 :]}"
    return joined


def close_code_block(text: str) -> str:
    """Close the code block that a text leaves open, which would contain all that follows."""
    opened: tuple[str, str] | None = None
    for line in text.split("\n"):
        if opened and _is_contained(opened[0]) and line.strip() and line[0] not in " \t>":
            opened = None  # it ended with its list or quotation
        fence = _FENCE.match(line)
        if fence:
            opened = _after_fence(opened, *fence.groups())
    if opened is None or _is_contained(opened[0]):
        return text
    return f"{text}\n{opened[0]}{opened[1]}"


def _passages(text: str, before: Iterable[str]) -> Iterator[str]:
    """Yield the texts before each round, and the text after the last. text: may end in any of them."""
    at = 0
    for each in before:
        if not text.startswith(each[: len(text) - at], at):
            break
        yield text[at : at + len(each)]
        at += len(each)
    yield text[at:]


def _after_fence(
    opened: tuple[str, str] | None, container: str, mark: str, rest: str
) -> tuple[str, str] | None:
    if opened is None:
        is_inline = mark[0] == "`" and "`" in rest
        return None if is_inline else (container, mark)
    return None if mark.startswith(opened[1]) and not rest.strip() else opened


def _is_contained(container: str) -> bool:
    """Return whether a fence stands in a list or a quotation, and ends with it."""
    return bool(container.strip()) or len(container) > 3
