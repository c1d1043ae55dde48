"""The open_url tool: reads a part of a web page. This is its card."""

from django.utils.translation import gettext_noop as _

from chat.presenters.tool_card import ToolCard

CARD = ToolCard(
    name="open_url",
    label=_("Open web pages"),
    about=_("Reads web pages whose address is known."),
    icon="globe",
    doing=[_("Opening %(host)s"), _("Opening a page")],
    done=[_("Opened %(host)s"), _("Opened a page")],
    failed=[_("Could not open %(host)s"), _("Could not open a page")],
    several=_("Opened web pages"),
    needs="OPEN_URL",
)
