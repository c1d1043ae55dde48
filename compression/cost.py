"""Adds up what the requests for one summary used and cost. Pure."""

from collections.abc import Sequence
from decimal import Decimal

from chat.compressions.requests import CompressionUsage
from chat.models import ModelConfig
from chat.transcript.token_usage import TokenUsage

# Prices are per this many tokens.
PRICE_UNIT_TOKENS = 1_000_000


def total_usage(used: Sequence[TokenUsage], config: ModelConfig | None) -> CompressionUsage:
    """Sum the usage; the cost is None if a price is unknown or the server did not report tokens."""
    prompt = sum(usage.prompt_tokens or 0 for usage in used)
    completion = sum(usage.completion_tokens or 0 for usage in used)
    is_counted = all(
        usage.prompt_tokens is not None and usage.completion_tokens is not None for usage in used
    )
    if config is None or config.prompt_price is None or config.completion_price is None or not is_counted:
        return CompressionUsage(prompt, completion)
    cached = min(prompt, sum(usage.cached_tokens or 0 for usage in used))
    cached_price = config.prompt_price if config.cached_price is None else config.cached_price
    cost = (prompt - cached) * config.prompt_price + cached * cached_price
    return CompressionUsage(
        prompt, completion, (cost + completion * config.completion_price) / Decimal(PRICE_UNIT_TOKENS)
    )
