"""Decides where in streamed Markdown a citation can stand: not in code, and not where brackets mean something else. Pure.

In a stream the closing backtick is not known yet: an opening one makes code of everything up to the closing one or
the end of the paragraph. Indented code counts as prose.

Lists, indices, intervals and formulas are written with the same brackets. The formulas are those that the page typesets
(`web/static/chat/markdown/markdown_rules.js`). web/static/chat/state/answer_text.js asks the same of a stored text; both
pass tests/chat/transcript/citation_places.json.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

# A longer run of backticks or tildes is not held back.
LONGEST_RUN: Final = 200
# How much of a line's beginning is kept, to see whether a fence may start there.
LINE_BEGINNING: Final = 100

_PROSE = re.compile(r"\n|`+|~+|\\[^\n]|\\|[^\n`~\\]+")
_MARKS = re.compile(r"[\n`~\\]")
_CODE = re.compile(r"\n|`+|~+|[^\n`~]+")
_GOES_ON = re.compile(rf"[`~]{{1,{LONGEST_RUN}}}|\\")
_EMPTY_LINE = re.compile(r"[ \t>]*")
# Quotes and lists may hold fences.
_BEFORE_A_FENCE = re.compile(r"(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*")


class MarkdownPart(NamedTuple):
    text: str
    is_code: bool


class CodeSpans:
    """Splits one text into prose and code. Holds back only a run of marks or a backslash that may continue."""

    def __init__(self) -> None:
        # opening: in a line that may open a fence, after the run.  closing: in a line that may have closed one.
        self._mode: Literal["prose", "span", "opening", "fence", "closing"] = "prose"
        self._run = ""
        self._line = ""
        self._held = ""

    def feed(self, text: str) -> Iterator[MarkdownPart]:
        text, self._held = self._held + text, ""
        at = 0
        while at < len(text):
            token = self._token(text, at)
            if at + len(token) == len(text) and _GOES_ON.fullmatch(token):
                self._held = token
                return
            at += len(token)
            yield self._part(token)

    def is_prose(self, text: str) -> bool:
        """Return True if the text is plain prose, which then counts as fed: a fast path for most deltas."""
        if self._mode != "prose" or self._held or _MARKS.search(text):
            return False
        if len(self._line) < LINE_BEGINNING:
            self._line = (self._line + text)[:LINE_BEGINNING]
        return True

    def flush(self) -> Iterator[MarkdownPart]:
        """Yield the text that is still held back at the end."""
        if self._held:
            yield self._part(self._held)
        self._held = ""

    def _token(self, text: str, at: int) -> str:
        found = (_PROSE if self._mode == "prose" else _CODE).match(text, at)
        return found[0] if found else text[at]

    def _part(self, text: str) -> MarkdownPart:
        was_prose = self._mode == "prose"
        if text[0] == "\n":
            self._end_line()
        else:
            if text[0] in "`~":
                self._meet(text)
            elif self._mode == "closing" and text.strip():
                self._mode = "fence"
            self._line = (self._line + text)[:LINE_BEGINNING]
        return MarkdownPart(text, is_code=not was_prose or self._mode != "prose")

    def _end_line(self) -> None:
        paragraph_ends = _EMPTY_LINE.fullmatch(self._line) is not None
        match self._mode:
            case "opening":
                self._mode = "fence"
            case "closing":
                self._mode = "prose"
            case "span" if paragraph_ends:
                self._mode = "prose"
        self._line = ""

    def _meet(self, run: str) -> None:
        """Change the mode at a run of backticks or tildes."""
        match self._mode:
            case "prose" | "span" if len(run) >= 3 and _BEFORE_A_FENCE.fullmatch(self._line):
                self._mode, self._run = "opening", run
            case "prose" if run[0] == "`":
                self._mode, self._run = "span", run
            case "span" if run == self._run:
                self._mode = "prose"
            case "opening" if run[0] == self._run[0] == "`":
                # Not a fence: an info string has no backticks.
                self._mode = "prose" if run == self._run else "span"
            case "fence" if run.startswith(self._run) and _EMPTY_LINE.fullmatch(self._line):
                self._mode = "closing"
            case "closing":
                self._mode = "fence"


# Text before a marker that is looked at, and text behind it that may decide whether it stands in a formula.
LONGEST_CONTEXT: Final = 2000
# Text behind a marker that is waited for after a dollar sign: formulas in a line are short.
_LONGEST_WAIT: Final = 200

_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")
# Behind these, brackets are an index, a list of a program or a label: `m[3][4]`, `'a'[1]`, `{"ids": [1]}`, `x = [1, 2]`, `x ∈ [1, 2]`.
_NO_STATEMENT: Final = re.compile(r"""(?:["'\]:/]|"\s?:\s?|[=∈∉⊂⊆]\s?)\Z""")
_ADDRESS: Final = re.compile(r"""[^\s<>"'()*|\u3000-\u303f\uff00-\uffef]*""")
# A list of lists: `[[1, 2], [3, 4]]`.
_LIST: Final = re.compile(r"\[[-\d\s,.\[\]]*\Z")
_LONGEST_LIST: Final = 200
_DEFINITION: Final = re.compile(r"\]:[ \t]{0,20}(?:<|[a-zA-Z][a-zA-Z0-9+.-]{0,19}:(?=\S)|/)")
_DEFINITION_BEGINS: Final = re.compile(r"\](?::[ \t]{0,20}(?:[a-zA-Z][a-zA-Z0-9+.-]{0,19}:?)?)?\Z")
_LINE_BEGINS: Final = re.compile(r"(?:\A|\n) {0,3}\Z")

_OPENING: Final = re.compile(r"\\\\|\\\[|\\\(|\\begin\{[a-z]+\*?\}|\\.|\$\$|\$(?![\s$])", re.DOTALL)
_CLOSINGS: Final = {"$$": "$$", "\\[": "\\]", "\\(": "\\)"}
_LINE_OF_TEX: Final = re.compile(r"(?:\\[^\n]|[^\\$\n])*")
# "$5 and more" is an amount.
_AMOUNT: Final = re.compile(r"\d[^\\^_={}]*\s[a-z]{2,}", re.IGNORECASE)


def may_cite(text: str, begin: int, end: int, *, is_whole: bool) -> bool | None:
    """Return whether `text[begin:end]`, numbers in brackets, can be a citation. None: the text that follows decides.
    A marker directly behind another citation needs no such question. is_whole: nothing will follow.
    """
    before = text[max(0, begin - LONGEST_CONTEXT) : begin]
    if _belongs_to_text_before(before):
        return False
    if _LINE_BEGINS.search(before):
        if _DEFINITION.match(text, end - 1):
            return False
        if not is_whole and _DEFINITION_BEGINS.match(text, end - 1):
            return None
    if "$" not in before and "\\" not in before:
        return True
    paragraph = _BLANK_LINE.split(before)[-1]
    behind = _BLANK_LINE.split(text[begin : begin + LONGEST_CONTEXT], maxsplit=1)
    is_decided = is_whole or len(behind) > 1 or len(behind[0]) == LONGEST_CONTEXT
    is_inside = _is_in_formula(paragraph + behind[0], len(paragraph), is_whole=is_decided)
    return None if is_inside is None else not is_inside


def _belongs_to_text_before(before: str) -> bool:
    """Return whether the brackets belong to a word (an index), a quote, a label, an address or a list before them.

    Letters without upper and lower case do not count: Chinese, Japanese or Thai put no blank before a citation, and nothing
    is indexed with them.
    """
    letter = before.rstrip("0123456789")[-1:]
    if letter == "_" or letter.islower() or letter.isupper():
        return True
    scheme_end = before.rfind("://")
    if _NO_STATEMENT.search(before[-3:]) or (scheme_end >= 0 and _ADDRESS.fullmatch(before, scheme_end)):
        return True
    numbers = _LIST.search(before[-_LONGEST_LIST:])
    return numbers is not None and numbers[0].count("[") > numbers[0].count("]")


def _is_in_formula(text: str, place: int, *, is_whole: bool) -> bool | None:
    """Return whether a formula of the paragraph contains the place; None if the text that follows decides."""
    at, unclosed = 0, set[str]()
    while opening := _OPENING.search(text, at, place):
        at = opening.end()
        end = None if opening[0] in unclosed else _formula_end(text, opening, is_whole=is_whole)
        if end is None:
            if not is_whole and not (opening[0] == "$" and len(text) - place >= _LONGEST_WAIT):
                return None
            unclosed |= {opening[0]} - {"$"}
        elif end > place:
            return True
        at = max(at, end or 0)
    return False


def _formula_end(text: str, opening: re.Match[str], *, is_whole: bool) -> int | None:
    """Return where the formula ends; 0 if none begins there, None if the text ends before that is known."""
    mark, at = opening[0], opening.end()
    if mark == "$":
        return _line_formula_end(text, at, is_whole=is_whole)
    closing = mark.replace("begin", "end", 1) if mark.startswith("\\begin") else _CLOSINGS.get(mark)
    if closing is None:
        return 0
    end = text.find(closing, at)
    return None if end < 0 else end + len(closing)


def _line_formula_end(text: str, begin: int, *, is_whole: bool) -> int | None:
    body = _LINE_OF_TEX.match(text, begin)
    end = body.end() if body else begin
    if _AMOUNT.match(text, begin, end):
        return 0
    if end == len(text):
        return None
    if text[end] != "$" or text[end - 1].isspace():
        return 0
    if end + 1 == len(text) and not is_whole:
        return None
    return 0 if re.match(r"[\w$]", text[end + 1 : end + 2]) else end + 1
