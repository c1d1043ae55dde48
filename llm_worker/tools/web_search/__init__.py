"""The web_search tool: queries the deployment's search service. This is its card."""

from django.utils.translation import gettext_noop as _

from chat.presenters.tool_card import ToolCard

CARD = ToolCard(
    name="web_search",
    label=_("Web search"),
    about=_("Searches the web."),
    icon="globe",
    doing=[_("Searching the web")],
    done=[_("Searched the web")],
    failed=[_("Could not search the web")],
    shows=["query", "queries"],
    needs="WEB_SEARCH_URL",
)
