"""What the model sees: which messages, in which order, within which budget. Pure.

Letters: S system, U user, A answer, D dynamic context. Refuses to know rows, wire dicts and the model server.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from chat.transcript import Entry

Letter = Literal["S", "U", "A", "D"]
ROLES: dict[Letter, str] = {"S": "system", "U": "user", "A": "assistant", "D": "user"}

# Room for what a server adds around each message (role, separators); OpenAI's own rule of thumb.
TOKENS_PER_MESSAGE = 4
# The date suffix in the default encoding.
SENT_AT_TOKENS = 20
# Estimates are not exact: this much of the window stays unused.
USED_SHARE = 0.95
# Above this share of the budget an estimate is checked with the model's own encoding.
TIGHT_SHARE = 0.9


class ContextTooLong(Exception):
    """What must be sent does not fit; the user has to shorten it. No request is made."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message as the model sees it."""

    letter: Letter
    text: str

    @property
    def role(self) -> str:
        return ROLES[self.letter]


LanguageModelInput = Sequence[Message]

# (text, its count in the default encoding if stored, else 0) -> tokens
TokensOf = Callable[[str, int], int]


@dataclass(frozen=True, slots=True)
class Framing:
    """What stands around the branch. Empty texts are left out."""

    system: str = ""
    dynamic_context: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """messages: in send order.  is_tight: history was cut, or nearly; worth an exact count."""

    messages: LanguageModelInput
    tokens: int
    is_tight: bool


def build_context(
    entries: Sequence[Entry], framing: Framing, *, budget_tokens: int, tokens_of: TokensOf
) -> Context:
    """Choose what the model will see: `S U1 A1 … D U`.

    entries: the branch, oldest first; the last one is the user message to answer. It is always kept; older
    ones newest first, up to the first that does not fit. Raises ContextTooLong if the fixed part does not fit.
    """
    *history, current = [entry for entry in entries if entry.text or entry.role == "user"]
    head = _texts("S", framing.system)
    tail = [*_texts("D", framing.dynamic_context), _seen(current)]
    used = sum(_cost(message, 0, tokens_of) for message in (*head, *tail[:-1]))
    used += _entry_cost(current, tokens_of)
    if used > budget_tokens:
        raise ContextTooLong(f"{used} tokens do not fit into {budget_tokens}")
    kept: list[Message] = []
    for entry in reversed(history):
        cost = _entry_cost(entry, tokens_of)
        if used + cost > budget_tokens:
            break
        used += cost
        kept.append(_seen(entry))
    was_cut = len(kept) < len(history)
    return Context(
        messages=[*head, *reversed(kept), *tail],
        tokens=used,
        is_tight=was_cut or used > TIGHT_SHARE * budget_tokens,
    )


def request_budget(context_window: int, max_output_tokens: int) -> int:
    """Tokens that a request may use; the rest of the window is for the answer."""
    return int(USED_SHARE * context_window) - max_output_tokens


def system_prompt(base: str, session_began_at: datetime) -> str:
    """The same bytes for the whole session, or the server's prefix cache would be lost."""
    return base.replace("{{CURRENT_DATE}}", session_began_at.strftime("%Y-%m-%d"))


def dated(text: str, sent_at: datetime) -> str:
    """A user message with the minute it was sent (UTC), the same in every later turn."""
    return f"{text}\n\n<sent_at>{sent_at:%Y-%m-%d %H:%M} UTC</sent_at>"


def _texts(letter: Letter, text: str) -> list[Message]:
    return [Message(letter, text)] if text else []


def _seen(entry: Entry) -> Message:
    if entry.role == "user":
        return Message("U", dated(entry.text, entry.sent_at))
    return Message("A", entry.text)


def _entry_cost(entry: Entry, tokens_of: TokensOf) -> int:
    suffix = SENT_AT_TOKENS if entry.role == "user" else 0
    return tokens_of(entry.text, entry.token_count) + suffix + TOKENS_PER_MESSAGE


def _cost(message: Message, stored: int, tokens_of: TokensOf) -> int:
    return tokens_of(message.text, stored) + TOKENS_PER_MESSAGE
