"""Reads what a model server says about an error, in the dialects of different servers. Pure.

OpenAI, LiteLLM, Azure: {"error": {"code", "type", "message"}}, where a code may be a status; vLLM: the same, or flat;
Anthropic: {"type": "error", "error": {"type", "message"}}; Ollama: {"error": "…"}; FastAPI: {"detail": …}; Google:
OpenAI's form in a list; MiniMax: {"base_resp": {"status_code", "status_msg"}}; proxies: HTML. A message may be JSON itself.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Final

from llm_worker.upstream.redaction import MAX_INPUT_CHARACTERS

_CODES: Final = ("code", "type", "error_type", "status", "status_code", "statusCode")
_MESSAGES: Final = (
    "error", "errors", "message", "detail", "msg", "error_message", "innererror", "base_resp", "status_msg",
)  # fmt: skip
# Codes that say nothing.
_EMPTY: Final = frozenset({"", "none", "null", "error"})
_MAX_DEPTH: Final = 6
_MAX_ITEMS: Final = 10


@dataclass
class ErrorReport:
    """The content of an error. codes: codes and types in words, the outermost and most specific first.

    numbers: codes of the server's own that are numbers. status: the HTTP status, if the report has one.
    """

    codes: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    status: int | None = None

    @property
    def code(self) -> str:
        return self.codes[0] if self.codes else ""

    @property
    def message(self) -> str:
        return "; ".join(dict.fromkeys(self.texts))

    @property
    def searched(self) -> str:
        """All codes and texts in lower case, for classification; before a number stands `code`."""
        numbers = [f"code {number}." for number in self.numbers]
        return " ".join([*self.codes, *numbers, *self.texts]).lower()


def read_error(said: str) -> ErrorReport:
    """Read an error report. said: the body of a response: JSON, HTML or a text."""
    report = ErrorReport()
    _collect(said, report, 0)
    return report


def _collect(said: object, report: ErrorReport, depth: int) -> None:
    if depth > _MAX_DEPTH or len(report.texts) >= _MAX_ITEMS:
        return
    match said:
        case str():
            _collect_text(said[:MAX_INPUT_CHARACTERS].strip(), report, depth)
        case Mapping():
            for name in _CODES:
                _add_code(report, said.get(name))
            before = len(report.texts)
            for name in _MESSAGES:
                _collect(said.get(name), report, depth + 1)
            _prefix_place(said.get("loc"), report.texts, before)
        case list():
            for item in said[:_MAX_ITEMS]:
                _collect(item, report, depth + 1)


def _collect_text(text: str, report: ErrorReport, depth: int) -> None:
    if text.startswith(("{", "[")) and (inner := _json_in(text)) is not None:
        before = len(report.texts)
        _collect(inner, report, depth + 1)
        if len(report.texts) > before:
            return
    if text.startswith("<"):
        text = _text_of(text)
    if text:
        report.texts.append(text)


def _add_code(report: ErrorReport, code: object) -> None:
    text = str(code).strip() if isinstance(code, str | int) and not isinstance(code, bool) else ""
    if text.isascii() and text.isdecimal():
        if report.status is None and len(text) == 3 and text[0] in "45":
            report.status = int(text)
        elif len(text) > 3:
            report.numbers.append(text[:20])
    elif text.lower() not in _EMPTY and text not in report.codes:
        report.codes.append(text[:MAX_INPUT_CHARACTERS])


def _prefix_place(place: object, texts: list[str], first: int) -> None:
    """Prefix the texts with the place of the error in the body, which FastAPI names beside its message."""
    if isinstance(place, Sequence) and not isinstance(place, str):
        path = ".".join(str(part)[:100] for part in place[:_MAX_ITEMS])
        texts[first:] = [f"{path}: {text}" for text in texts[first:]]


def _json_in(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


class _TextParser(HTMLParser):
    """Collects the text of a page, without scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._is_hidden = False

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        self._is_hidden = tag in ("script", "style")

    def handle_endtag(self, _tag: str) -> None:
        self._is_hidden = False

    def handle_data(self, data: str) -> None:
        if not self._is_hidden and data.strip():
            self.texts.append(data.strip())


def _text_of(page: str) -> str:
    parser = _TextParser()
    parser.feed(page)
    parser.close()
    return " ".join(dict.fromkeys(parser.texts))
