"""How research_agent starts its inner loop, and what it returns as its result."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from django.conf import settings

from chat.transcript.tools import Annotations
from llm_worker.tools.current_time.tool import CurrentTime
from llm_worker.tools.registry import TOOLS
from llm_worker.tools.research_agent.tool import CYCLES, ResearchAgent
from llm_worker.tools.tool import Tool, ToolFailed, ToolResult
from llm_worker.tools.web_search.tool import WebSearch
from llm_worker.upstream.deltas import ModelFailed

pytestmark = pytest.mark.pure


@dataclass
class Reporting:
    """A ToolContext whose research returns this report."""

    report: str | Exception = "The moon is far [3]."
    asked: list[tuple[str, str, list[str], int]] = field(default_factory=list)
    now: datetime = datetime(2026, 11, 22, tzinfo=UTC)

    async def research(self, instructions: str, question: str, tools: Sequence[Tool], cycles: int) -> str:
        self.asked.append((instructions, question, [tool.name for tool in tools], cycles))
        if isinstance(self.report, Exception):
            raise self.report
        return self.report


class Paying(CurrentTime):
    annotations = Annotations()


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> ResearchAgent:
    monkeypatch.setattr(settings, "WEB_SEARCH_URL", "http://127.0.0.1:9")
    return ResearchAgent([WebSearch(), CurrentTime()])


async def test_the_report_is_the_response_of_the_call(agent: ResearchAgent) -> None:
    work = Reporting()
    assert await agent.run({"question": "How far is the moon?"}, work) == ToolResult("The moon is far [3].")
    [(instructions, question, tools, cycles)] = work.asked
    assert (question, tools, cycles) == ("How far is the moon?", ["web_search", "current_time"], CYCLES)
    assert (
        instructions.index("# Tools")
        < instructions.index("## current_time")
        < instructions.index("## web_search")
    )


async def test_the_inner_loop_gets_the_available_tools(
    agent: ResearchAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "WEB_SEARCH_URL", "")
    work = Reporting()
    await agent.run({"question": "What time is it?"}, work)
    assert work.asked[0][2] == ["current_time"]
    assert "web_search" not in work.asked[0][0]


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (" \n", "The research came to no report."),
        (ModelFailed("upstream_timeout"), "The research broke off, because the model failed."),
    ],
)
async def test_a_missing_report_fails_the_call_and_not_the_run(
    agent: ResearchAgent, report: str | Exception, sentence: str
) -> None:
    with pytest.raises(ToolFailed) as failed:
        await agent.run({"question": "x"}, Reporting(report))
    assert str(failed.value) == sentence


def test_availability_and_idempotence_follow_its_tools(
    agent: ResearchAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (agent.searches, agent.annotations.may_run_again, agent.is_available()) == (True, True, True)
    monkeypatch.setattr(settings, "WEB_SEARCH_URL", "")
    assert (agent.searches, agent.is_available()) == (False, True)
    assert not ResearchAgent([WebSearch()]).is_available()
    assert not ResearchAgent([Paying()]).annotations.may_run_again


def test_parallel_calls_are_not_merged(agent: ResearchAgent) -> None:
    assert agent.merge([{"question": "a"}, {"question": "b"}]) is None


def test_the_agent_is_not_among_its_own_tools() -> None:
    research = TOOLS["research_agent"]
    assert isinstance(research, ResearchAgent)
    assert "research_agent" not in {tool.name for tool in research.tools()}
