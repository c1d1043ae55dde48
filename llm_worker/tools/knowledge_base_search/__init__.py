"""The knowledge_base_search tool: finds passages in the documents of knowledge bases. This is its card."""

from django.utils.translation import gettext_noop as _

from chat.presenters.tool_card import ToolCard

CARD = ToolCard(
    name="knowledge_base_search",
    label=_("Search of knowledge bases"),
    icon="source",
    doing=[_("Searching knowledge bases")],
    done=[_("Searched knowledge bases")],
    failed=[_("Could not search knowledge bases")],
    shows=["query", "queries"],
    result="search",
    is_choosable=False,
)
