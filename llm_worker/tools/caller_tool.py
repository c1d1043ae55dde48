"""Tools of the caller, as they are offered to a model. No call of them runs here."""

from collections.abc import Sequence

from chat.transcript.caller_tools import CallerFunction
from llm_worker.tools.tool import Tool


class CallerTool(Tool):
    is_callers = True

    def __init__(self, function: CallerFunction) -> None:
        self.name = function.name
        self.description = function.description
        self.parameters = function.parameters


def add_caller_tools(tools: Sequence[Tool], functions: Sequence[CallerFunction]) -> list[Tool]:
    """Return the tools with the caller's, which stand in the place of others of their names."""
    names = {function.name for function in functions}
    return [*(tool for tool in tools if tool.name not in names), *map(CallerTool, functions)]
