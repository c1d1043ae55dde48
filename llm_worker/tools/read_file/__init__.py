"""The read_file tool: reads a part of a file of the chat or its project. This is its card."""

from django.utils.translation import gettext_noop as _

from chat.presenters.tool_card import ToolCard

CARD = ToolCard(
    name="read_file",
    label=_("Reading of files"),
    icon="file",
    doing=[_("Reading a file")],
    done=[_("Read a file")],
    failed=[_("Could not read a file")],
    is_choosable=False,
)
