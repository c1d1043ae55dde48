"""The search_project tool: finds passages in the files of the session's project. This is its card."""

from django.utils.translation import gettext_noop as _

from chat.presenters.tool_card import ToolCard

CARD = ToolCard(
    name="search_project",
    label=_("Search of the project"),
    icon="search",
    doing=[_("Searching the project")],
    done=[_("Searched the project")],
    failed=[_("Could not search the project")],
    shows=["query", "queries"],
    result="search",
    is_choosable=False,
)
