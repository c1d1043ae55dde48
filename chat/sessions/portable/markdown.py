"""Exports a session as Markdown: the current branch, or all branches. Reads the database through exporter.py."""

from collections.abc import Iterator

from chat.models import Session
from chat.sessions.portable.exporter import messages_of
from chat.sessions.portable.format import Call, Citation, Message
from chat.sessions.portable.safe_markdown import safe_line, safe_link, safe_markdown
from chat.transcript.citations import count_from_one
from chat.transcript.entries import Document
from chat.transcript.finish import Finish
from chat.transcript.readable_text import readable_text


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
