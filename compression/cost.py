"""Adds up the tokens and the cost of the requests for one summary. Pure."""

from collections.abc import Sequence
from decimal import Decimal

from chat.compressions.requests import CompressionUsage
from chat.models import ModelConfig
from chat.transcript.token_usage import MAX_TOKENS, TokenUsage


def total_usage(used: Sequence[TokenUsage], config: ModelConfig | None) -> CompressionUsage:
    """Sum the usage; the cost is None if a price or a count is unknown."""
    prompt = min(MAX_TOKENS, sum(usage.prompt_tokens or 0 for usage in used))
    completion = min(MAX_TOKENS, sum(usage.completion_tokens or 0 for usage in used))
    estimated = min(MAX_TOKENS, sum(usage.estimated_tokens or 0 for usage in used))
    # The first element tells whether the prices are known, even if no request was answered.
    costs = [config.cost_of(usage) if config else None for usage in (TokenUsage(0, 0), *used)]
    known = [cost for cost in costs if cost is not None]
    cost = sum(known, Decimal()) if len(known) == len(costs) else None
    return CompressionUsage(prompt, completion, cost, estimated)
