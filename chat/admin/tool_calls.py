"""What admins see of tool calls and of what answers cite: to read, under their message and by themselves."""

from django.contrib import admin

from chat.admin.reading import Rows, ToRead
from chat.models import CitedDocument, PromptBlock, ToolCall


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
class ToolCallAdmin(ToRead[ToolCall]):
    """Calls made inside an agent tool are listed below its own."""

    list_display = ("id", "name", "status", "owner", "turn_number", "tab_index", "created_at")
    list_select_related = ("run__turn__session__owner",)
    list_filter = ("status", "name", "created_at")
    search_fields = ("id", "tool_call_id", "name", "run__turn__session__owner__username")
    inlines = (ToolCallRows,)

    @admin.display(description="owner")
    def owner(self, call: ToolCall) -> str:
        return call.run.turn.session.owner.get_username()
