"""What admins see of tool calls and of what answers cite: to read, under their message and by themselves."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from chat.models import ChatMessage, CitedDocument, PromptBlock, Run, ToolCall
from web.admin.filters import ByTool
from web.admin.read_only import Rows, ToRead
from web.admin.search import Found


class ToolCallRows(Rows):
    model = ToolCall
    fields = ("turn_number", "tab_index", "name", "arguments", "response", "status")


class CitationRows(Rows):
    model = CitedDocument
    fields = ("number", "document_id", "title", "url")
    show_change_link = False


class BlockRows(Rows):
    model = PromptBlock
    fields = ("kind", "text", "token_count")
    show_change_link = False


@admin.register(ToolCall)
class ToolCallAdmin(Found[ToolCall], ToRead[ToolCall]):
    """Calls made inside an agent tool are listed below its own."""

    list_display = ("short_id", "name", "status", "owner", "turn_number", "tab_index", "created_at")
    list_select_related = ("run__turn__session__owner",)
    list_filter = ("status", ByTool, "created_at")
    ordering = ("-created_at",)
    owner_field = "run__turn__session__owner"
    around = ((Run, "tool_calls"), (ChatMessage, "tool_calls"))
    search_help_text = _("A user's name, the id of a call, of its run or message.")
    inlines = (ToolCallRows,)

    @admin.display(description=_("owner"))
    def owner(self, call: ToolCall) -> str:
        return call.run.turn.session.owner.get_username()
