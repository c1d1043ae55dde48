"""The definition of an agent's prompts and tools, as its owner and staff can edit it: one part of a PromptVersion.

The worker records it with each run; the admin compares the record with what is in force now.
"""

from typing import Any

from chat.models import Agent, SystemPrompt
from chat.models.agent import ContextLayout
from chat.prompts import default_system_prompt


def define_prompts(agent: Agent | None, own_prompt: str, base: str) -> dict[str, Any]:
    """Return the definition as a JSON object. own_prompt: as of Session.own_prompt().

    base: the installation's prompt; left out where the agent's replaces it.
    """
    replaces = bool(agent and agent.replaces_system_prompt)
    return {
        "base_prompt": "" if replaces else base.strip(),
        "prompt": own_prompt.strip(),
        "replaces_system_prompt": replaces,
        "reminder": agent.reminder if agent else "",
        "context_layout": str(agent.context_layout if agent else ContextLayout.MOVING),
        "tools": sorted(set(agent.tools)) if agent else [],
    }


def base_prompt() -> str:
    """Return the installation's prompt that is in force. Reads the database."""
    return base_prompt_of(SystemPrompt.edited())


def base_prompt_of(edited: str | None) -> str:
    """Return the prompt as staff edited it; the default if they did not (None)."""
    return default_system_prompt() if edited is None else edited
