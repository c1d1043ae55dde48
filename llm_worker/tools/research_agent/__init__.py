"""The research_agent tool: an inner loop works on a question. This is its card."""

from django.utils.translation import gettext_noop as _

from chat.presenters.tool_card import ToolCard

CARD = ToolCard(
    name="research_agent",
    label=_("Research by a second agent"),
    about=_("Looks into a question on its own, and reports."),
    icon="agent",
    doing=[_("Researching")],
    done=[_("Researched")],
    failed=[_("Could not research")],
    shows=["question"],
    result="report",
)
