"""The ask_user tool: asks the user questions in one form. This is its card."""

from django.utils.translation import gettext_noop as _

from chat.presenters.tool_card import ToolCard

CARD = ToolCard(
    name="ask_user",
    label=_("Questions to you"),
    about=_("Asks you what only you know, and waits for the answer."),
    icon="user",
    doing=[_("Asking you")],
    done=[_("Asked you")],
    failed=[_("Could not ask you")],
    shows=["message"],
    result="form",
)
