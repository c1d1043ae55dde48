"""How a run's latest request fills the window of its model, and whether its history should be compressed. No I/O.

The estimate may report a compression that is not due, never the reverse: the compression process measures exactly.

The usage adds up the counts of the messages of the request, and the counts stored with the branch; tokenises nothing.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from chat.compressions.requests import WantedCompression
from chat.transcript.entries import Entry
from chat.transcript.tokens import OMITTED_RESPONSE_TOKENS, TOKENS_PER_MESSAGE, count_tokens, request_tokens
from llm_worker.loop.brief import Brief
from llm_worker.request.context import Context
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.model_message import LanguageModelInput, Letter, Message, total_tokens
from llm_worker.request.summary_choice import entry_tokens, exact_ratio, verbatim_start
from llm_worker.request.token_counters import estimate_tokens

# Tolerance: a request may be counted in the model's encoding, or its history by estimates that differ from the rows.
SLACK_SHARE = 0.02
SLACK_TOKENS = 64


@dataclass
class WindowUsage:
    """The brief of a run and the latest request of its loop. is_history_cut: some request omitted history."""

    trigger_ratio: float
    brief: Brief | None = None
    messages: LanguageModelInput = ()
    is_history_cut: bool = False

    def record(self, context: Context) -> None:
        """Record a request that is being sent."""
        self.messages = context.messages
        has_summary = any(message.letter == "SUM" for message in context.messages)
        lacks_summary = bool(self.brief and self.brief.prompt_parts.summary) and not has_summary
        self.is_history_cut |= bool(context.omitted_entries) or lacks_summary

    def wanted_compression(self, answer: str) -> WantedCompression | None:
        """Return the compression to request; None if none can be due. answer: all text of the turn."""
        if self.brief is None or not self.messages:
            return None
        brief = self.brief
        window = self.history_window(brief)
        limit = self.trigger_ratio * window
        history = total_tokens(self.history(brief)) + TOKENS_PER_MESSAGE
        # A token has at least one byte, so most answers need not be counted.
        if not (
            self.is_history_cut
            or (
                _exceeds(history + len(answer.encode(errors="replace")), limit)
                and _exceeds(history + count_tokens(answer), limit)
            )
        ):
            return None
        return WantedCompression(brief.counted_window - window, self.is_history_cut)

    def history_window(self, brief: Brief) -> int:
        """Return the tokens that the latest request left for history."""
        around = [message for message in self.messages if _is_around(message, brief)]
        return brief.budget.history_window(total_tokens(around))

    def history(self, brief: Brief) -> LanguageModelInput:
        """Return the messages of the latest request that count as history, including messages of this turn."""
        return [message for message in self.messages if not _is_around(message, brief)]


def _exceeds(tokens: int, limit: float) -> bool:
    return tokens * (1 + SLACK_SHARE) + SLACK_TOKENS > limit


def _is_around(message: Message, brief: Brief) -> bool:
    """Return whether the message surrounds the history. Stored blocks belong to the history."""
    prompt_parts = brief.prompt_parts
    around: dict[str, tuple[str, ...]] = {
        "S": (prompt_parts.system,),
        "CA": (prompt_parts.agent_prompt,),
        "P": (prompt_parts.project, prompt_parts.project_note),
        "D": (prompt_parts.dynamic_context,),
    }
    return message.letter == "R" or (bool(message.text) and message.text in around.get(message.letter, ()))


# Messages that belong to a part wherever they stand. Others are history; from the question on, part of the question.
PART_OF: Final[dict[Letter, str]] = {
    "S": "system", "CA": "system", "R": "system", "SUM": "summary",
    "P": "files", "D": "files", "F": "files", "N": "files",
}  # fmt: skip
PARTS: Final = ("system", "summary", "history", "files", "question")


@dataclass(frozen=True)
class ContextUsage:
    """How full the window is, and when the history is summarised.

    trigger_ratio: the share of the history window above which that happens.  recent_ratio: the share of the history
    that stays verbatim.
    """

    usage: WindowUsage
    trigger_ratio: float
    recent_ratio: float

    def as_json(self, answer_tokens: int) -> dict[str, Any] | None:
        """Return the usage as JSON values, in the server's tokens; None if no request was made.

        The schema of the API describes the members. answer_tokens: of the whole answer, in the default encoding.
        """
        brief, messages = self.usage.brief, self.usage.messages
        if brief is None or not messages:
            return None
        most = request_tokens(brief.context_window, brief.answer_reserve, brief.token_factor)
        parts = {"tools": most - brief.budget.tokens, **_parts(messages)}
        return {
            "window": brief.context_window,
            "reserved": max(0, brief.context_window - _scaled(most, brief)),
            **{name: _scaled(tokens, brief) for name, tokens in parts.items()},
            "compression": self._compression(brief, answer_tokens),
            # Only if there are some: web servers of an earlier version do not know the member.
            **({"left_out_tools": len(brief.left_out_tools)} if brief.left_out_tools else {}),
        }

    def _compression(self, brief: Brief, answer_tokens: int) -> dict[str, Any]:
        window, messages = self.usage.history_window(brief), self.usage.history(brief)
        question = _place_of_question(messages)
        history = sum(message.tokens for message in messages[:question])
        history += sum(map(_later_tokens, messages[question:])) + answer_tokens + TOKENS_PER_MESSAGE
        # No more of a history is kept than of one that fills the window.
        room = exact_ratio(self.recent_ratio) * min(history, window)
        return {
            "history": _scaled(history, brief),
            "limit": _scaled(int(exact_ratio(self.trigger_ratio) * window), brief),
            "keeps_from": _first_kept(brief, answer_tokens, room),
        }


def _parts(messages: LanguageModelInput) -> dict[str, int]:
    tokens = dict.fromkeys(PARTS, 0)
    question = _place_of_question(messages)
    for place, message in enumerate(messages):
        part = PART_OF.get(message.letter) or ("history" if place < question else "question")
        tokens[part] += message.tokens
    return tokens


def _place_of_question(messages: LanguageModelInput) -> int:
    return max(place for place, message in enumerate(messages) if message.letter == "U")


def _later_tokens(message: Message) -> int:
    """Return the tokens of a message of this turn in later turns, which do not show the responses of its tools."""
    is_response = message.letter == "TR"
    return OMITTED_RESPONSE_TOKENS + TOKENS_PER_MESSAGE if is_response else message.tokens


def _first_kept(brief: Brief, answer_tokens: int, room: Fraction) -> str | None:
    """Return the id of the first message that would stay verbatim; None if no message is older."""
    renderer = MessageRenderer(estimate_tokens, brief.prompt_parts.sees_images)
    answer = Entry("", "assistant", "", brief.entries[-1].sent_at)
    rows = [*brief.entries, answer]

    def tokens_of(entry: Entry) -> int:
        return answer_tokens + TOKENS_PER_MESSAGE if entry is answer else entry_tokens(entry, renderer)

    start = verbatim_start(rows, room, tokens_of=tokens_of, is_question=lambda entry: entry.role == "user")
    return rows[start].id if start else None


def _scaled(tokens: int, brief: Brief) -> int:
    return round(tokens * brief.token_factor)
