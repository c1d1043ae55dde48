"""The research_agent tool: the same model works on a question in an inner loop and returns a report."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from chat.transcript.tools import Annotations
from llm_worker.prompts import prompt
from llm_worker.request.system_prompt import add_guidance
from llm_worker.tools.research_agent import CARD
from llm_worker.tools.tool import Tool, ToolContext, ToolFailed, ToolResult
from llm_worker.upstream.deltas import ModelFailed

logger = logging.getLogger(__name__)

# Inferences: three rounds of calls, and the report.
CYCLES = 4
# Several inferences and tool rounds; below the default RUN_DEADLINE, so that the run still ends with an answer.
TIME_LIMIT_S = 600.0
# The sources of tools that are offered only to runs that have these sources.
_SEARCHED = {
    "knowledge_base_search": "the knowledge bases of this chat",
    "search_project": "the files of this chat's project",
}


class ResearchAgent(Tool):
    """Runs an inner loop, which counts the searches and tokens that it uses like any loop of the run."""

    name = CARD.name
    description = "Researches a question in several steps and returns a report with citations."
    guidance = (
        "Call `research_agent` for questions that take several searches and a comparison of what they find; answer "
        "simple ones yourself. It knows nothing of this conversation: write a complete question, with all names, "
        "dates and what the answer is needed for. Call it once for each part of a question that stands alone. Keep "
        "the numbers in its report when you use its statements."
    )
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "question": {
                "type": "string",
                "minLength": 1,
                "description": "The whole question, understandable without this conversation.",
            }
        },
        "required": ["question"],
    }
    time_limit_s = TIME_LIMIT_S

    def __init__(self, tools: Sequence[Tool]) -> None:
        """Set the tools that the inner loop may use if they are available."""
        self._all_tools = tools

    def with_sources(self, tools: Sequence[Tool]) -> "ResearchAgent":
        """Return this tool with further tools for the inner loop, which its guidance mentions."""
        agent = ResearchAgent((*self._all_tools, *tools))
        searched = " and ".join(_SEARCHED[tool.name] for tool in tools if tool.name in _SEARCHED)
        agent.guidance = f"{self.guidance} It can search {searched} as well."
        return agent

    # Its tools are those that are available when it is offered.
    @property
    def searches(self) -> bool:  # type: ignore[override]
        return any(tool.searches for tool in self.tools())

    @property
    def annotations(self) -> Annotations:  # type: ignore[override]
        return Annotations.of_all([tool.annotations for tool in self.tools()])

    def is_available(self) -> bool:
        return bool(self.tools())

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:
        tools = self.tools()
        instructions = add_guidance(prompt("research"), tools, cites=False)
        try:
            report = await work.research(instructions, arguments["question"], tools, CYCLES)
        except ModelFailed as error:
            logger.warning("the model failed inside %s: %s", self.name, error)
            raise ToolFailed("The research broke off, because the model failed.") from error
        if not report.strip():
            raise ToolFailed("The research came to no report.")
        return ToolResult(report)

    def tools(self) -> list[Tool]:
        return [tool for tool in self._all_tools if tool.is_available()]


TOOL: Tool = ResearchAgent(())
