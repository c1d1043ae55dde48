"""The admin of tool calls, and inline tables for the page of their message.
The tables list calls, files, citations and prompt blocks.
"""

from typing import Any, ClassVar, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import ChatMessage, CitedDocument, MessageFile, PromptBlock, Run, ToolCall
from web.admin.filters import ToolFilter
from web.admin.read_only import ReadOnlyAdmin, ReadOnlyInline
from web.admin.search import SearchAdmin
from web.admin.visible_text import visible_column

_NAME, _ARGUMENTS, _RESPONSE = (visible_column(ToolCall, name) for name in ("name", "arguments", "response"))
_VISIBLY: Final = {"name": _NAME, "arguments": _ARGUMENTS, "response": _RESPONSE}


class ToolCallInline(ReadOnlyInline):
    model = ToolCall
    fields: ClassVar[Any] = ("turn_number", "tab_index", _NAME, _ARGUMENTS, _RESPONSE, "status")
    readonly_fields: ClassVar[Any] = fields


class CitationInline(ReadOnlyInline):
    model = CitedDocument
    fields: ClassVar[Any] = (
        "number",
        *(visible_column(CitedDocument, name) for name in ("document_id", "title", "url")),
    )
    readonly_fields: ClassVar[Any] = fields
    show_change_link = False


class AttachmentInline(ReadOnlyInline):
    """The files of a question, each with a link to its page."""

    model = MessageFile
    fields = ("position", "file", "number")
    show_change_link = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[MessageFile]:
        return super().get_queryset(request).select_related("file").defer("file__text")


class PromptBlockInline(ReadOnlyInline):
    model = PromptBlock
    fields = ("kind", "text", "token_count")
    show_change_link = False


@admin.register(ToolCall)
class ToolCallAdmin(SearchAdmin[ToolCall], ReadOnlyAdmin[ToolCall]):
    """The admin of tool calls. The page of an agent tool's call lists its nested calls."""

    list_display = ("short_id", "name", "status", "owner", "turn_number", "tab_index", "created_at")
    list_select_related = ("run__turn__session__owner",)
    list_filter = ("status", ToolFilter, "created_at")
    ordering = ("-created_at",)
    owner_field = "run__turn__session__owner"
    related_ids = ((Run, "tool_calls"), (ChatMessage, "tool_calls"))
    search_help_text = _("A user's name, the id of a call, of its run or message.")
    inlines = (ToolCallInline,)

    def get_readonly_fields(self, request: HttpRequest, obj: ToolCall | None = None) -> list[Any]:
        return [_VISIBLY.get(name, name) for name in super().get_readonly_fields(request, obj)]

    @admin.display(description=_("owner"))
    def owner(self, call: ToolCall) -> str:
        return call.run.turn.session.owner.get_username()
