"""The current_time tool: tells date and time. This is its card."""

from django.utils.translation import gettext_noop as _

from chat.presenters.tool_card import ToolCard

CARD = ToolCard(
    name="current_time",
    label=_("Date and time"),
    about=_("Tells the date and the time where you are."),
    icon="clock",
    doing=[_("Looking at the clock")],
    done=[_("Looked at the clock")],
    failed=[_("Could not look at the clock")],
    shows=["timezone"],
)
