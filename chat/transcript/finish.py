"""Finish: how a model ended its last inference, and whether that left the answer incomplete. Pure."""

from collections.abc import Collection
from typing import Final, NamedTuple

from chat.protocol.strict_json import storable

LENGTH: Final = "length"
FILTERED: Final = "content_filter"
# Set by Turnwire: the run has reached a limit for a single run (decision 0088).
TOKENS_USED_UP: Final = "token_limit"
CHARACTERS_USED_UP: Final = "character_limit"
RUN_LIMITS: Final = (TOKENS_USED_UP, CHARACTERS_USED_UP)
# Reasons of answers that look complete and are not.
CUT: Final = (LENGTH, FILTERED, *RUN_LIMITS)
# The reasons of the specification, and the names that some servers use instead, in lower case. RUN_LIMITS are reserved
# for Turnwire: from a server they count as LENGTH.
_NAMES: Final = {
    **{name: name for name in ("stop", "tool_calls", "function_call", "refusal", FILTERED, LENGTH)},
    # TGI, Cohere, Anthropic and gateways before them
    **dict.fromkeys(("eos", "eos_token", "end_turn", "stop_sequence", "complete", "end"), "stop"),
    **dict.fromkeys(("max_tokens", "model_length", "max_output_tokens", "context_window_exceeded"), LENGTH),
    **dict.fromkeys(("model_context_window_exceeded", "max_length", "context_length_exceeded"), LENGTH),
    **dict.fromkeys(RUN_LIMITS, LENGTH),
    # Google, Zhipu, Anthropic on Bedrock
    **dict.fromkeys(
        ("safety", "recitation", "blocklist", "prohibited_content", "spii", "language"), FILTERED
    ),
    **dict.fromkeys(("image_safety", "image_prohibited_content", "sensitive", "content_filtered"), FILTERED),
    **dict.fromkeys(("guardrail_intervened", "error_toxic", "content_policy", "model_armor"), FILTERED),
}
# Reasons of answers that their server has broken off, in lower case.
BROKEN: Final = frozenset(
    {
        "error", "network_error", "abort", "aborted", "cancelled", "canceled", "insufficient_system_resource",
        "internal_error", "server_error", "timeout", "failed", "error_limit", "user_cancel",
    }
)  # fmt: skip
# If a server gives several reasons, the first of these counts.
_WEIGHTIEST_FIRST: Final = ("refusal", FILTERED, LENGTH)
_MAX_CHARACTERS: Final = 40
_SENTENCES: Final = {
    FILTERED: "Cut by the provider's filter.",
    TOKENS_USED_UP: "Stopped: one answer may use no more tokens.",
    CHARACTERS_USED_UP: "Stopped: one answer may not be longer.",
}


class Finish(NamedTuple):
    """The end of an inference.

    reason: as OpenAI names it, or as the server gave it if OpenAI has no name for it; empty if the server gave none.
    tokens: the number that the model had generated when it was cut at its output limit; None otherwise.
    """

    reason: str = ""
    tokens: int | None = None

    @property
    def is_cut(self) -> bool:
        return self.reason in CUT

    @property
    def is_cut_at_limit(self) -> bool:
        """Whether the model could go on, if it were asked to."""
        return self.reason == LENGTH

    @property
    def is_at_run_limit(self) -> bool:
        """Whether the run has used all that one run may use."""
        return self.reason in RUN_LIMITS

    @property
    def cut_reason(self) -> str | None:
        """The reason for clients, who receive it only if the answer is incomplete; None otherwise."""
        return self.reason if self.is_cut else None

    @property
    def sentence(self) -> str:
        """An English sentence that tells readers why the answer is incomplete; empty for a complete one."""
        if self.reason in _SENTENCES:
            return _SENTENCES[self.reason]
        if self.reason != LENGTH:
            return ""
        if not self.tokens:
            return "Stopped at the output limit."
        return f"Stopped at {self.tokens:,} {'token' if self.tokens == 1 else 'tokens'}."


WHOLE: Final = Finish()


def finish_reason(given: Collection[str]) -> str:
    """Choose the reason of an inference from all that its server gave; empty if it gave none."""
    known = {_normalised(reason) for reason in given if reason}
    weighty = next((reason for reason in _WEIGHTIEST_FIRST if reason in known), None)
    return weighty or min(known, default="")[:_MAX_CHARACTERS]


def _normalised(given: str) -> str:
    return _NAMES.get(given.strip().lower(), storable(given))
