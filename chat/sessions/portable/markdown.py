"""Exports a session as Markdown that is safe to open in any viewer: no raw HTML, no links but http, https and mailto.

Viewers differ, and many render HTML. Code stays unchanged where every viewer recognises it as code; elsewhere too much
is escaped rather than too little: a visible backslash does no harm. Pure.
"""

import html
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from chat.models import Session
from chat.sessions.portable.exporter import messages_of
from chat.sessions.portable.format import Call, Citation, Message
from chat.transcript.citations import count_from_one
from chat.transcript.entries import Document
from chat.transcript.finish import Finish
from chat.transcript.readable_text import readable_text

SCHEMES: Final = frozenset({"http", "https", "mailto"})
# An opening fence at the margin, which no list or quotation can end early.
_OPENING: Final = re.compile(r"(`{3,})[^`]*|(~{3,}).*", re.DOTALL)
_BACKTICKS: Final = re.compile(r"`+")
_TAG: Final = re.compile(r"<(?!(?:https?://|mailto:)[^\s<>`]*>)(?=[A-Za-z/!?])")
# The end of a link's text and the beginning of its destination, in a link or in a reference definition.
_DESTINATION: Final = re.compile(r"\](?P<mark>[(:])(?P<rest>[^\n]{0,200}\n?[^\n]{0,200})")
_IGNORED: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\ufeff\\<]")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


def is_safe_url(url: str) -> bool:
    """Return whether the URL, as viewers read it, has no scheme or an allowed one.
    Viewers decode entities, and ignore white space and backslashes."""
    scheme = _SCHEME.match(_IGNORED.sub("", html.unescape(url)))
    return scheme is None or scheme[1].lower() in SCHEMES


def safe_line(text: str) -> str:
    """Escape Markdown and HTML in the text, and join its lines."""
    return re.sub(r"([\\`*_\[\]<>!])", r"\\\1", " ".join(text.split()))


def safe_link(text: str, url: str) -> str:
    """Return a Markdown link, or only its text if the address is empty or not safe."""
    if not url or not is_safe_url(url):
        return safe_line(text)
    address = re.sub(r"[<>\s\\]", lambda match: quote(match[0]), url)
    return f"[{safe_line(text)}](<{address}>)"


def safe_markdown(text: str) -> str:
    """Make Markdown safe. An unclosed code block is closed, since it would contain everything that follows."""
    return "\n".join(_safe_lines(text))


def _safe_lines(text: str) -> Iterator[str]:
    fence, paragraph = "", []
    for line in [*text.split("\n"), None]:
        if line is not None and not fence and line.strip() and not _OPENING.fullmatch(line):
            paragraph.append(line)
            continue
        yield from _safe_paragraph(paragraph)
        paragraph = []
        if line is None:
            break
        yield line
        fence = _next_fence(fence, line)
    if fence:
        yield fence


def _next_fence(fence: str, line: str) -> str:
    """Return the fence that is open after this line; empty if there is none."""
    if fence:
        closing = line.strip(" \t\r")
        is_closed = set(closing) == {fence[0]} and len(closing) >= len(fence) and not line.startswith("    ")
        return "" if is_closed else fence
    opening = _OPENING.fullmatch(line)
    return (opening[1] or opening[2]) if opening else ""


def _safe_paragraph(lines: list[str]) -> Iterator[str]:
    """Escape a paragraph. Inline code stays unchanged only while all viewers agree on where code begins."""
    is_certain, joined = True, "\n".join(lines)
    if not lines:
        return
    if "|" in joined or "\\`" in joined or "\t" in joined:
        is_certain = False
    safe = []
    for line in lines:
        pieces = _pieces(line) if is_certain else None
        is_certain = pieces is not None
        safe.append(
            "".join(_escaped(piece) if not is_code else piece for piece, is_code in pieces or [(line, False)])
        )
    yield from _without_links("\n".join(safe)).split("\n")


def _pieces(line: str) -> list[tuple[str, bool]] | None:
    """Split the line into text and code. Returns None if a run of backticks has no partner in the line."""
    pieces, start = [], 0
    runs = list(_BACKTICKS.finditer(line))
    while runs:
        opening = runs.pop(0)
        closing = next((run for run in runs if len(run[0]) == len(opening[0])), None)
        if closing is None:
            return None
        pieces += [(line[start : opening.start()], False), (line[opening.start() : closing.end()], True)]
        start = closing.end()
        runs = [run for run in runs if run.start() >= start]
    return [*pieces, (line[start:], False)]


def _escaped(text: str) -> str:
    return _TAG.sub("&lt;", text)


def _without_links(text: str) -> str:
    """Break links to other schemes with a backslash between text and destination."""

    def broken(found: re.Match[str]) -> str:
        mark, rest = found["mark"], found["rest"]
        return f"]{mark}{rest}" if is_safe_url(rest) else f"]\\{mark}{rest}"

    return _DESTINATION.sub(broken, text)


def as_markdown(session: Session, *, whole: bool = False) -> Iterator[bytes]:
    """Yield the Markdown in pieces.
    whole: all branches, each message with its number and its parent's; otherwise the current branch."""
    yield f"# {safe_line(session.title) or 'Untitled chat'}\n".encode()
    parts = _all_branches(session) if whole else _current_branch(session)
    for part in parts:
        yield part.encode()


def _current_branch(session: Session) -> Iterator[str]:
    wanted: int | None = 0
    for message in messages_of(session):
        # Messages come after their parents, so one pass is enough.
        if message.id == wanted:
            wanted = message.latest_child
            if message.role != "root":
                yield _message(message, "")


def _all_branches(session: Session) -> Iterator[str]:
    for message in messages_of(session):
        if message.role != "root":
            below = f" after {message.parent}" if message.parent else ""
            yield _message(message, f"{message.id}{below}: ")


def _message(message: Message, number: str) -> str:
    parts = [f"\n## {number}{_speaker(message)}\n\n{message.sent_at:%Y-%m-%d %H:%M} UTC\n"]
    parts += [f"\n- File: {safe_line(file.name)}\n" for file in message.files]
    if message.tool_calls:
        parts.append(f"\n- Tools: {', '.join(_call(call) for call in message.tool_calls)}\n")
    text, sources = count_from_one(_text(message), [_document(cited) for cited in message.citations])
    if text:
        parts.append(f"\n{safe_markdown(text)}\n")
    if message.run and message.run.error:
        parts.append(f"\n*{safe_line(message.run.error.message)}*\n")
    if message.run and (cut := Finish(message.run.finish_reason, message.run.finish_tokens).sentence):
        parts.append(f"\n*{cut}*\n")
    if sources:
        parts.append("\nSources:\n\n" + "".join(_source(source) for source in sources))
    return "".join(parts)


def _call(call: Call) -> str:
    ending = f" ({call.status})" if call.status in ("failed", "refused") else ""
    return safe_line(call.name) + ending


def _text(message: Message) -> str:
    return readable_text(message.text, ((call.turn_number, call.text_before) for call in message.tool_calls))


def _speaker(message: Message) -> str:
    match message.role:
        case "user":
            return "You"
        case "summary":
            return "Summary of what is above"
        case _:
            return _answerer(message)


def _answerer(message: Message) -> str:
    if message.edited:
        return f"{safe_line(message.edited.model) or 'Answer'}, edited"
    return safe_line(message.run.model) if message.run else "Answer"


def _document(cited: Citation) -> Document:
    return Document(cited.number, cited.document_id, cited.title, url=cited.url or "")


def _source(source: Document) -> str:
    return f"{source.number}. {safe_link(source.title or source.document_id, source.url)}\n"
