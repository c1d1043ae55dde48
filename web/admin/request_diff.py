"""A comparison of two requests, message by message and within changed messages line by line (difflib). No queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple

Kind = Literal["same", "added", "removed"]
# Unchanged lines that are displayed around changed ones; the rest of longer passages is folded.
CONTEXT_LINES: Final = 2
# Maximum length of a compared message; a longer one is displayed as removed and added. It bounds the time of difflib.
MAX_LINES: Final = 4_000


@dataclass(frozen=True)
class SentMessage:
    """A message as it was sent. is_known: part of the prefix shared with the request before."""

    number: int
    letter: str
    noun: str
    tokens: int | None
    text: str
    calls: str
    is_known: bool = False

    @property
    def whole_text(self) -> str:
        return "\n".join(part for part in (self.text, self.calls) if part)


class Hunk(NamedTuple):
    """Consecutive lines. is_folded: unchanged lines that are not near a changed one."""

    kind: Kind
    lines: Sequence[str]
    is_folded: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Section(NamedTuple):
    """Consecutive messages that are the same, added or removed; or one changed message, with the hunks of its text."""

    kind: Literal["same", "added", "removed", "changed"]
    messages: Sequence[SentMessage]
    hunks: Sequence[Hunk] = ()


def compare_requests(before: Sequence[SentMessage], after: Sequence[SentMessage]) -> list[Section]:
    """Return the sections in the order of `after`; removed messages are at their former place."""
    matcher = SequenceMatcher(None, _keys(before), _keys(after), autojunk=False)
    sections: list[Section] = []
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            sections.append(Section("same", after[new_start:new_end]))
        else:
            sections += _compare_parts(before[start:end], after[new_start:new_end])
    return sections


def _keys(messages: Sequence[SentMessage]) -> list[tuple[str, str]]:
    return [(one.noun, one.whole_text) for one in messages]


def _compare_parts(before: Sequence[SentMessage], after: Sequence[SentMessage]) -> Iterator[Section]:
    """Pair the messages of the same kind, in their order; the others were removed or added."""
    matcher = SequenceMatcher(None, [one.noun for one in before], [one.noun for one in after], autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            for old, new in zip(before[start:end], after[new_start:new_end], strict=True):
                yield Section("changed", [new], compare_lines(old.whole_text, new.whole_text))
            continue
        if start < end:
            yield Section("removed", before[start:end])
        if new_start < new_end:
            yield Section("added", after[new_start:new_end])


def compare_lines(before: str, after: str) -> list[Hunk]:
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MAX_LINES:
        return [Hunk("removed", old), Hunk("added", new)]
    hunks: list[Hunk] = []
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for place, (tag, start, end, new_start, new_end) in enumerate(opcodes):
        if tag == "equal":
            hunks += _fold(new[new_start:new_end], is_first=place == 0, is_last=place == len(opcodes) - 1)
            continue
        if start < end:
            hunks.append(Hunk("removed", old[start:end]))
        if new_start < new_end:
            hunks.append(Hunk("added", new[new_start:new_end]))
    return hunks


def _fold(lines: Sequence[str], *, is_first: bool, is_last: bool) -> Iterator[Hunk]:
    """Split unchanged lines: those beside changed lines are displayed, those between are folded."""
    top = 0 if is_first else CONTEXT_LINES
    bottom = len(lines) - (0 if is_last else CONTEXT_LINES)
    # Folding a single line saves no space.
    if bottom - top < 2:
        yield Hunk("same", lines)
        return
    parts = (
        Hunk("same", lines[:top]),
        Hunk("same", lines[top:bottom], is_folded=True),
        Hunk("same", lines[bottom:]),
    )
    yield from (part for part in parts if part.lines)
