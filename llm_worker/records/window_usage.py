"""Estimates whether a run's history should be compressed, from token counts that are already known. No I/O.

May report a compression that is not due, never the reverse: the compression process measures exactly.
"""

from dataclasses import dataclass

from chat.compressions.requests import WantedCompression
from chat.transcript.tokens import TOKENS_PER_MESSAGE, count_tokens
from llm_worker.loop.brief import Brief
from llm_worker.request.context import Context
from llm_worker.request.model_message import LanguageModelInput, Message, total_tokens

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
