"""Token counters: a cached estimate in the default encoding, and exact counts in installed encodings. No network."""

from chat.transcript.tokens import DEFAULT, count_tokens, installed_encodings
from llm_worker.request.model_message import TokenCounter

# Counts of repeated texts that have no stored count: prompts in every run, tool responses in every cycle; and, in
# another encoding than the default, all texts of requests that come close to the budget.
# Keyed by hash, length and encoding, so that no text is held; cleared when full.
_known: dict[tuple[int, int, str], int] = {}
MOST_KNOWN = 20_000


def estimate_tokens(text: str, stored: int) -> int:
    """Count the tokens in the default encoding, unless a count is stored or cached."""
    return stored or _counted(text, DEFAULT)


def exact_counter(tokenizer: str) -> TokenCounter | None:
    """Return a counter in this encoding; None if it would not be more exact than estimate_tokens()."""
    if tokenizer == DEFAULT or tokenizer not in installed_encodings():
        return None
    return lambda text, _stored: _counted(text, tokenizer)


def _counted(text: str, encoding: str) -> int:
    key = hash(text), len(text), encoding
    tokens = _known.get(key)
    if tokens is None:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        tokens = _known[key] = count_tokens(text, encoding)
    return tokens
