"""Whether the history may have grown so long that it should be compressed: from numbers already known. No I/O.

Errs only on one side: where nothing is due it may say so, and whoever compresses measures exactly.
"""

from collections import Counter
from dataclasses import dataclass

from chat.transcript.tokens import count_tokens
from llm_worker.brief import Brief
from llm_worker.request.message import TOKENS_PER_MESSAGE, LanguageModelInput, Message, total
from llm_worker.tools.schemas import schema_tokens

# Requests may be counted in the model's own encoding, or their history by other estimates than the rows are.
SLACK_SHARE = 0.02
SLACK_TOKENS = 64


@dataclass
class Fullness:
    """Of a run: what it works on, and the last request of its own loop."""

    trigger_ratio: float
    brief: Brief | None = None
    messages: LanguageModelInput = ()

    def reserved_if_due(self, answer: str) -> int | None:
        """How much of the window is not for history; None: nothing can be due. answer: all that was said in the turn."""
        if self.brief is None or not self.messages:
            return None
        around = [message for message in self.messages if _is_around(message, self.brief)]
        model = self.brief.model
        reserved = total(around) + model.max_output_tokens + schema_tokens(self.brief.tools)
        limit = self.trigger_ratio * (self.brief.context_window - reserved)
        history = total(self.messages) - total(around) + TOKENS_PER_MESSAGE
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
    framing = brief.framing
    around = {"S": framing.system, "CA": framing.agent_prompt, "P": framing.project}
    around["D"] = framing.dynamic_context
    return message.letter == "R" or (bool(message.text) and around.get(message.letter) == message.text)


def _was_cut(messages: LanguageModelInput, brief: Brief) -> bool:
    """Whether something of the branch is not in the request: then it is too long already."""
    shown = Counter(message.letter for message in messages if not _is_around(message, brief))
    asked = [entry for entry in brief.entries if entry.role == "user"]
    blocks = sum(bool(block.text) for entry in asked for block in entry.blocks)
    return (
        shown["SUM"] < bool(brief.framing.summary)
        or shown["U"] < len(asked)
        or shown["F"] < sum(bool(entry.files) for entry in asked)
        or shown["CA"] + shown["P"] + shown["D"] < blocks
    )
