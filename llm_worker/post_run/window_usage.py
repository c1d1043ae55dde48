"""Estimates whether a run's history should be compressed, from token counts that are already known. No I/O.

May report a compression that is not due, never the reverse: the compression process measures exactly.
"""

from collections import Counter
from dataclasses import dataclass

from chat.transcript.tokens import count_tokens
from llm_worker.brief import Brief
from llm_worker.request.message import TOKENS_PER_MESSAGE, LanguageModelInput, Message, total_tokens
from llm_worker.tools.schemas import schema_tokens

# Tolerance: a request may be counted in the model's encoding, or its history by other estimates than the rows.
SLACK_SHARE = 0.02
SLACK_TOKENS = 64


@dataclass
class WindowUsage:
    """The brief of a run and the latest request of its loop."""

    trigger_ratio: float
    brief: Brief | None = None
    messages: LanguageModelInput = ()

    def reserved_tokens_if_due(self, answer: str) -> int | None:
        """The tokens of the window that are not for history; None if no compression can be due.

        answer: all text of the turn.
        """
        if self.brief is None or not self.messages:
            return None
        around = [message for message in self.messages if _is_around(message, self.brief)]
        model = self.brief.model
        reserved = total_tokens(around) + model.max_output_tokens + schema_tokens(self.brief.tools)
        limit = self.trigger_ratio * (self.brief.context_window - reserved)
        history = total_tokens(self.messages) - total_tokens(around) + TOKENS_PER_MESSAGE
        # A token has at least one byte, so most answers need not be counted.
        if not (
            _has_omissions(self.messages, self.brief)
            or (
                _exceeds(history + len(answer.encode(errors="replace")), limit)
                and _exceeds(history + count_tokens(answer), limit)
            )
        ):
            return None
        return reserved


def _exceeds(tokens: int, limit: float) -> bool:
    return tokens * (1 + SLACK_SHARE) + SLACK_TOKENS > limit


def _is_around(message: Message, brief: Brief) -> bool:
    """Whether the message surrounds the history instead of belonging to it: stored blocks are history."""
    prompt_parts = brief.prompt_parts
    around = {"S": prompt_parts.system, "CA": prompt_parts.agent_prompt, "P": prompt_parts.project}
    around["D"] = prompt_parts.dynamic_context
    return message.letter == "R" or (bool(message.text) and around.get(message.letter) == message.text)


def _has_omissions(messages: LanguageModelInput, brief: Brief) -> bool:
    """Whether the request omits something of the branch: then the history is too long already."""
    shown = Counter(message.letter for message in messages if not _is_around(message, brief))
    asked = [entry for entry in brief.entries if entry.role == "user"]
    blocks = sum(bool(block.text) for entry in asked for block in entry.blocks)
    return (
        shown["SUM"] < bool(brief.prompt_parts.summary)
        or shown["U"] < len(asked)
        or shown["F"] < sum(bool(entry.files) for entry in asked)
        or shown["CA"] + shown["P"] + shown["D"] < blocks
    )
