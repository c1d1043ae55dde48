"""Whether the history may have grown so long that it should be compressed: from numbers already known. No I/O.

Errs only on one side: where nothing is due it may say so, and whoever compresses measures exactly.
"""

from collections import Counter
from dataclasses import dataclass

from chat.transcript.tokens import count_tokens
from llm_worker.brief import Brief
from llm_worker.request.message import TOKENS_PER_MESSAGE, LanguageModelInput, Message, total_tokens
from llm_worker.tools.schemas import schema_tokens

# Requests may be counted in the model's own encoding, or their history by other estimates than the rows are.
SLACK_SHARE = 0.02
SLACK_TOKENS = 64


@dataclass
class WindowUsage:
    """Of a run: what it works on, and the last request of its own loop."""

    trigger_ratio: float
    brief: Brief | None = None
    messages: LanguageModelInput = ()

    def reserved_tokens_if_due(self, answer: str) -> int | None:
        """How much of the window is not for history; None: nothing can be due. answer: all that was said in the turn."""
        if self.brief is None or not self.messages:
            return None
        around = [message for message in self.messages if _is_around(message, self.brief)]
        model = self.brief.model
        reserved = total_tokens(around) + model.max_output_tokens + schema_tokens(self.brief.tools)
        limit = self.trigger_ratio * (self.brief.context_window - reserved)
        history = total_tokens(self.messages) - total_tokens(around) + TOKENS_PER_MESSAGE
        # No token is shorter than a byte: most answers need not be counted.
        if not (
            _was_cut(self.messages, self.brief)
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
    """Whether it stands around the history, and not in it: blocks that are stored in the branch are history."""
    prompt_parts = brief.prompt_parts
    around = {"S": prompt_parts.system, "CA": prompt_parts.agent_prompt, "P": prompt_parts.project}
    around["D"] = prompt_parts.dynamic_context
    return message.letter == "R" or (bool(message.text) and around.get(message.letter) == message.text)


def _was_cut(messages: LanguageModelInput, brief: Brief) -> bool:
    """Whether something of the branch is not in the request: then it is too long already."""
    shown = Counter(message.letter for message in messages if not _is_around(message, brief))
    asked = [entry for entry in brief.entries if entry.role == "user"]
    blocks = sum(bool(block.text) for entry in asked for block in entry.blocks)
    return (
        shown["SUM"] < bool(brief.prompt_parts.summary)
        or shown["U"] < len(asked)
        or shown["F"] < sum(bool(entry.files) for entry in asked)
        or shown["CA"] + shown["P"] + shown["D"] < blocks
    )
