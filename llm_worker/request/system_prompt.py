"""Builds the system prompt, byte-identical for every request of a session so that servers can cache the prefix. Pure.

It has nothing that is specific to a request (no current date, count or cycle): reminders and dynamic context have that.
About the user it says only what holds in all chats.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from llm_worker.prompts import prompt

CURRENT_DATE = "{{CURRENT_DATE}}"


class GuidingTool(Protocol):
    """The properties of a tool that the prompt needs (llm_worker/tools/tool.py)."""

    @property
    def name(self) -> str: ...
    @property
    def guidance(self) -> str: ...
    @property
    def searches(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class AgentPrompt:
    """The prompt of an agent. replaces: the text is the whole system prompt; an empty text means no system message."""

    text: str = ""
    replaces: bool = False


class SystemPrompts(NamedTuple):
    """The prompts of a session. An empty text means that the message is not sent."""

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
    """Build the system prompt and the agent prompt.
    base: the edited or default prompt.  tools: all tools of the agent, even if a cycle does not offer them.
    """
    own = agent.text.strip()
    if agent.replaces:
        return SystemPrompts(_dated(own, session_began_at), "")
    foundation, moving = (base.strip(), own) if base.strip() else (own, "")
    cites = has_documents or any(tool.searches for tool in tools)
    return SystemPrompts(
        add_guidance(_dated(foundation, session_began_at), tools, cites=cites), agent_prompt=moving
    )


def add_guidance(text: str, tools: Sequence[GuidingTool], *, cites: bool) -> str:
    """Append a section on the tools, in name order, and one on citations, where they apply."""
    sections = [text]
    if tools:
        sections += [prompt("tools"), *_guidance(tools)]
    if cites:
        sections.append(prompt("citations"))
    return "\n\n".join(filter(None, sections))


def add_instructions(text: str, instructions: str) -> str:
    """Append what the user wrote for all chats to the system prompt.
    It comes last: users share the text above as a prefix.
    """
    section = f"{prompt('instructions')}\n\n{instructions.strip()}" if instructions.strip() else ""
    return "\n\n".join(filter(None, (text, section)))


def _guidance(tools: Iterable[GuidingTool]) -> list[str]:
    return [
        f"## {tool.name}\n\n{tool.guidance}"
        for tool in sorted(tools, key=lambda tool: tool.name)
        if tool.guidance
    ]


def _dated(text: str, session_began_at: datetime) -> str:
    return text.replace(CURRENT_DATE, f"{session_began_at:%Y-%m-%d}")
