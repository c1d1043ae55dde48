"""The system prompt: its sections and the agent's prompt; it is stable for a session."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chat.prompts import default_system_prompt
from chat.transcript.tokens import count_tokens
from llm_worker.prompts import prompt
from llm_worker.request.system_prompt import AgentPrompt, build_system_prompts
from llm_worker.tools.registry import TOOLS

pytestmark = pytest.mark.pure

BEGAN_AT = datetime(2026, 11, 22, 23, 59, tzinfo=UTC)


@dataclass
class Named:
    """A tool as far as the system prompt knows it."""

    name: str
    searches: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def guidance(self) -> str:
        return f"How to {self.name}."


CLOCK, SEARCH = Named("clock"), Named("search", searches=True)
TOOLS_TEXT = prompt("tools")
CITATIONS = prompt("citations")
ON_CLOCK, ON_SEARCH = "## clock\n\nHow to clock.", "## search\n\nHow to search."


def prompts(
    base: str = "Base.", agent: AgentPrompt | None = None, tools: Any = (), documents: bool = False
) -> tuple[str, str]:
    return build_system_prompts(
        base, agent or AgentPrompt(), tools, has_documents=documents, session_began_at=BEGAN_AT
    )


@pytest.mark.parametrize(
    ("base", "agent", "system", "moving"),
    [
        pytest.param("Base.", AgentPrompt(), "Base.", "", id="no agent"),
        pytest.param("Base.", AgentPrompt("Agent."), "Base.", "Agent.", id="an agent's prompt moves"),
        pytest.param("Base.", AgentPrompt("Agent.", replaces=True), "Agent.", "", id="or replaces"),
        pytest.param("Base.", AgentPrompt("", replaces=True), "", "", id="even by nothing"),
        pytest.param("Base.", AgentPrompt(" \n", replaces=True), "", "", id="blanks are nothing"),
        pytest.param("", AgentPrompt("Agent."), "Agent.", "", id="without a base it is the system prompt"),
        pytest.param(" ", AgentPrompt("Agent."), "Agent.", "", id="or with an empty one"),
        pytest.param("", AgentPrompt(), "", "", id="nothing at all"),
        pytest.param(
            "Since {{CURRENT_DATE}}.", AgentPrompt(), "Since 2026-11-22.", "", id="the session's day"
        ),
        pytest.param(
            "Base.",
            AgentPrompt("{{CURRENT_DATE}}", replaces=True),
            "2026-11-22",
            "",
            id="in an agent's as well",
        ),
    ],
)
def test_the_agents_prompt_is_added_replaces_or_moves(
    base: str, agent: AgentPrompt, system: str, moving: str
) -> None:
    assert prompts(base, agent) == (system, moving)


@pytest.mark.parametrize(
    ("tools", "documents", "sections"),
    [
        pytest.param([], False, ["Base."], id="nothing to explain"),
        pytest.param([], True, ["Base.", CITATIONS], id="documents are cited"),
        pytest.param([CLOCK], False, ["Base.", TOOLS_TEXT, ON_CLOCK], id="a tool that finds nothing to cite"),
        pytest.param([SEARCH], False, ["Base.", TOOLS_TEXT, ON_SEARCH, CITATIONS], id="one that does"),
        pytest.param(
            [SEARCH, CLOCK], True, ["Base.", TOOLS_TEXT, ON_CLOCK, ON_SEARCH, CITATIONS], id="by name, once"
        ),
    ],
)
def test_sections_depend_on_tools_and_documents(
    tools: list[Named], documents: bool, sections: list[str]
) -> None:
    system, _ = prompts(tools=tools, documents=documents)
    assert system == "\n\n".join(sections)


def test_without_a_base_the_agents_prompt_takes_its_place_above_the_sections() -> None:
    system, moving = prompts("", AgentPrompt("Agent."), [CLOCK])
    assert (system.startswith("Agent.\n\n# Tools\n"), moving) == (True, "")


def test_a_replacing_prompt_gets_no_section_on_tools() -> None:
    assert prompts(agent=AgentPrompt("Agent.", replaces=True), tools=[SEARCH], documents=True) == (
        "Agent.",
        "",
    )


def test_the_section_on_tools_encourages_further_calls() -> None:
    assert "Further calls are encouraged" in prompts(tools=[CLOCK])[0]


def test_the_date_is_that_of_the_session() -> None:
    later = BEGAN_AT + timedelta(seconds=30)
    agent = AgentPrompt()
    first, second = (
        build_system_prompts("{{CURRENT_DATE}}", agent, [], has_documents=False, session_began_at=at)
        for at in (BEGAN_AT, later)
    )
    assert first == second


def test_the_built_in_prompts_are_short() -> None:
    assert count_tokens(default_system_prompt()) <= 300
    every_tool = prompts("", tools=list(TOOLS.values()), documents=True)[0]
    assert count_tokens(every_tool) <= 600
