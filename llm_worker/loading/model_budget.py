"""The part of its window that a request to a configured model may use."""

from collections.abc import Sequence

from chat.models import ModelConfig
from llm_worker.request.context import Budget, request_budget
from llm_worker.tools.tool import Tool, schema_tokens


def budget_of(config: ModelConfig, tools: Sequence[Tool] = ()) -> Budget:
    """Return the budget of a request, in tokens of our estimate or of the model's own encoding."""
    return request_budget(
        config.context_window, config.answer_reserve, schema_tokens(tools), factor=config.estimate_factor
    )
