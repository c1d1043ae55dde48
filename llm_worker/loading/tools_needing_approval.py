"""Which of a run's tools need its user's approval. Reads the database."""

from collections.abc import Sequence
from uuid import UUID

from chat.models import Approval, ToolPolicy
from llm_worker.tools.tool import Tool


def find_tools_needing_approval(session: UUID, tools: Sequence[Tool]) -> frozenset[str]:
    """The names of those tools. Without those that the user has approved for the whole session."""
    if not tools:
        return frozenset()
    rules = ToolPolicy.objects.rules(tool.name for tool in tools)
    names = {
        tool.name
        for tool in tools
        if rules.get(tool.name, tool.approval_rule).needs_approval(tool.annotations)
    }
    return frozenset(names - Approval.objects.remembered(session) if names else ())
