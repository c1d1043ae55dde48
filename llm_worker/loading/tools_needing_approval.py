"""Finds the tools of a run that need its user's approval. Reads the database."""

from collections.abc import Sequence
from uuid import UUID

from chat.models import Approval, ToolPolicy
from llm_worker.tools.tool import Tool


def find_tools_needing_approval(session: UUID, tools: Sequence[Tool]) -> frozenset[str]:
    """Find tools that need approval, and that the user has not approved for the whole session. Returns their names."""
    if not tools:
        return frozenset()
    rules = ToolPolicy.objects.rules(tool.name for tool in tools)
    names = {
        tool.name
        for tool in tools
        if rules.get(tool.name, tool.approval_rule).needs_approval(tool.annotations)
    }
    return frozenset(names - Approval.objects.remembered(session) if names else ())
