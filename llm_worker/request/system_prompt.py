"""The system prompt: the same bytes for every request of a session, or model servers lose the prefix they keep.

Pure. Nothing of a request enters it (no user, no date of today, no count, no cycle): that is what reminders and
dynamic context are for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from llm_worker.prompts import prompt

CURRENT_DATE = "{{CURRENT_DATE}}"


class GuidingTool(Protocol):
    """What the prompt needs to know of a tool (llm_worker/tools/tool.py)."""

    @property
    def name(self) -> str: ...
    @property
    def guidance(self) -> str: ...
    @property
    def searches(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class AgentPrompt:
    """replaces: it is the whole system prompt; if it is empty then, there is none."""

    text: str = ""
    replaces: bool = False


class SystemPrompts(NamedTuple):
    """Empty: no such message."""

    system: str
    agent_prompt: str


def build_system_prompts(
    base: str,
    agent: AgentPrompt,
    tools: Sequence[GuidingTool],
    *,
    has_documents: bool,
    session_began_at: datetime,
) -> SystemPrompts:
    """base: staff's, or the default.  tools: all that the agent offers here, whatever a cycle leaves out."""
    own = agent.text.strip()
    if agent.replaces:
        return SystemPrompts(_dated(own, session_began_at), "")
    foundation, moving = (base.strip(), own) if base.strip() else (own, "")
    cites = has_documents or any(tool.searches for tool in tools)
    return SystemPrompts(
        add_guidance(_dated(foundation, session_began_at), tools, cites=cites), agent_prompt=moving
    )


def add_guidance(text: str, tools: Sequence[GuidingTool], *, cites: bool) -> str:
    """The text, then a section on the tools in name order and one on citations, where there are any."""
    sections = [text]
    if tools:
        sections += [prompt("tools"), *_guidance(tools)]
    if cites:
        sections.append(prompt("citations"))
    return "\n\n".join(filter(None, sections))


def _guidance(tools: Iterable[GuidingTool]) -> list[str]:
    return [f"## {tool.name}\n\n{tool.guidance}" for tool in sorted(tools, key=lambda tool: tool.name)]


def _dated(text: str, session_began_at: datetime) -> str:
    return text.replace(CURRENT_DATE, f"{session_began_at:%Y-%m-%d}")
