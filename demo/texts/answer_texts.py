"""AnswerTexts: all that the demo model says in one language. Pure."""

from typing import NamedTuple


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


class AnswerTexts(NamedTuple):
    """words: frequent in questions of this language, lower case; empty: it is known by its script.

    guide: the answer to any other question; `{quote}` is `quoted`, whose `{question}` is what was asked.
    found: what a search has found (`{sentence}`, `{number}`).  nothing_found: if that is nothing.
    told: what another tool has said (`{result}`).
    thought, rectangles: reasoning and answer.  parts: code, a table and a formula; `{code}` and `{formula}` are the same in all languages.
    sentences: of the story, whose nights are numbered (`night`, `{number}`); advice comes before it, morning after it.
    compared, compared_briefly: by each of the two models.
    cited: what the handbook says, whose number stands for `[#]`.  without_*: what is missing for the answer.
    note: the text of a note.
    """

    words: frozenset[str]
    guide: str
    quoted: str
    found: str
    nothing_found: str
    told: str
    thought: str
    rectangles: str
    parts: str
    sentences: tuple[str, ...]
    night: str
    advice: str
    morning: str
    compared: str
    compared_briefly: str
    cited: str
    without_handbook: str
    without_tool: str
    without_notes: str
    note: str
