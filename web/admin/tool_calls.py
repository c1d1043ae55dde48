"""The admin of tool calls, inline tables for the page of their message, and aggregates of calls since a time.

The tables list calls, files, citations and prompt blocks.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar, Final, NamedTuple

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import ChatMessage, CitedDocument, MessageFile, PromptBlock, Run, ToolCall
from chat.models.sql.statements import Statement
from chat.protocol.server_tool_names import SEPARATOR
from web.admin.read_only import ReadOnlyAdmin, ReadOnlyInline, visible_column
from web.admin.search import SearchAdmin, ToolFilter


class ToolRow(NamedTuple):
    """The calls of one tool, or of all of a server. name: of the tool or server.

    unknown: stopped or lost calls.  refused: refused by their users.
    p50, p95: milliseconds of the calls that ran; None if none did.
    """

    name: str
    calls: int
    failed: int
    unknown: int
    refused: int
    p50: float | None
    p95: float | None


# Calls of imported chats were not made by this installation.
# Parameters: since, prefix (of names; empty: all), by_server, separator. Plan: tool_call_by_age.
_CALLED: Final = Statement(
    """
    SELECT CASE WHEN %(by_server)s THEN split_part(name, %(separator)s, 1) ELSE name END AS called_name, count(*), count(*) FILTER (WHERE called.status = 'failed'), count(*) FILTER (WHERE called.status = 'unknown'),
        count(*) FILTER (WHERE called.status = 'refused'),
        -- A question that its user has answered took none.
        percentile_cont(0.5) WITHIN GROUP (ORDER BY NULLIF(duration_ms, 0)),
        percentile_cont(0.95) WITHIN GROUP (ORDER BY NULLIF(duration_ms, 0))
    FROM chat_toolcall called JOIN chat_run ON chat_run.id = called.run_id AND NOT chat_run.is_imported
    WHERE called.created_at >= %(since)s AND starts_with(name, %(prefix)s)
        AND (NOT %(by_server)s OR split_part(name, %(separator)s, 1) IN (SELECT name FROM chat_mcpserver))
    GROUP BY called_name ORDER BY count(*) DESC, called_name LIMIT 50
    """,
    ToolRow,
)


def load_tool_rows(since: datetime, server: str = "") -> Sequence[ToolRow]:
    """Return the 50 tools with the most calls. server: the name of the MCP server whose tools are meant."""
    return _CALLED.all(
        since=since, prefix=server and f"{server}{SEPARATOR}", by_server=False, separator=SEPARATOR
    )


def load_server_rows(since: datetime) -> Sequence[ToolRow]:
    """Return the 50 MCP servers with the most calls."""
    return _CALLED.all(since=since, prefix="", by_server=True, separator=SEPARATOR)


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
