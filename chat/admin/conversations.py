"""What admins see: sessions, their messages and turns to read; models and the system prompt to edit.

Conversations belong to their users: nothing here writes or adds one, deleting a session is left to its owner's API.
"""

from django.contrib import admin
from django.db import models
from django.forms import Textarea
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chat.admin.compressions import TURNS, CompressionRows, MadeBy, compressions_per_turns, covered_by
from chat.admin.reading import Rows, ToRead
from chat.admin.tool_calls import BlockRows, CitationRows, ToolCallRows
from chat.models import ChatMessage, Feedback, ModelConfig, Run, Session, SystemPrompt, Turn


def link(label: object, row: models.Model | None) -> SafeString | str:
    """A link to the admin page of `row`; a dash where there is none."""
    if row is None:
        return "-"
    name = row._meta.model_name  # noqa: SLF001  Django's documented model API
    return format_html('<a href="{}">{}</a>', reverse(f"admin:chat_{name}_change", args=[row.pk]), label)


class TurnRows(Rows):
    model = Turn
    fields = ("user_message", "created_at", "ended_at")
    readonly_fields = ("created_at",)


class RunRows(Rows):
    model = Run
    fields = ("model_index", "model", "status", "attempt", "failures", "error_code", "time_to_first_token_ms")


@admin.register(Session)
class SessionAdmin(ToRead[Session]):
    list_display = ("id", "title", "owner", "while_answering", "created_at", "updated_at", "message_list")
    list_select_related = ("owner",)
    list_filter = ("while_answering", "updated_at")
    search_fields = ("id", "title", "owner__username")
    date_hierarchy = "created_at"
    inlines = (TurnRows, CompressionRows)

    def get_readonly_fields(self, request: HttpRequest, obj: Session | None = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), "compressions"]

    @admin.display(description=f"compressions per {TURNS} turns")
    def compressions(self, session: Session) -> float | None:
        return compressions_per_turns(session)

    @admin.display(description="messages")
    def message_list(self, session: Session) -> SafeString:
        url = reverse("admin:chat_chatmessage_changelist")
        return format_html('<a href="{}?session__id__exact={}">messages</a>', url, session.pk)


@admin.register(ChatMessage)
class ChatMessageAdmin(ToRead[ChatMessage]):
    list_display = ("id", "role", "excerpt", "owner", "answered_by_run", "token_count", "sent_at")
    list_select_related = ("session__owner", "run")
    list_filter = ("role", "sent_at")
    search_fields = ("id", "text", "session__owner__username")
    inlines = (ToolCallRows, CitationRows, BlockRows, MadeBy)

    def get_readonly_fields(self, request: HttpRequest, obj: ChatMessage | None = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), "covered_messages"]

    @admin.display(description="covered messages")
    def covered_messages(self, message: ChatMessage) -> int | None:
        return covered_by(message)

    @admin.display(description="text")
    def excerpt(self, message: ChatMessage) -> str:
        return message.text[:80]

    @admin.display(description="owner")
    def owner(self, message: ChatMessage) -> str:
        return message.session.owner.get_username()

    @admin.display(description="run")
    def answered_by_run(self, message: ChatMessage) -> SafeString | str:
        run = message.answered_by
        return link(run.status if run else "", run)


@admin.register(Turn)
class TurnAdmin(ToRead[Turn]):
    list_display = ("id", "owner", "question", "created_at", "ended_at")
    list_select_related = ("session__owner", "user_message")
    list_filter = ("created_at",)
    search_fields = ("id", "session__owner__username", "user_message__text")
    inlines = (RunRows,)

    @admin.display(description="owner")
    def owner(self, turn: Turn) -> str:
        return turn.session.owner.get_username()

    @admin.display(description="question")
    def question(self, turn: Turn) -> SafeString | str:
        return link(turn.user_message.text[:80] or "-", turn.user_message)


@admin.register(ModelConfig)
class ModelConfigAdmin(admin.ModelAdmin[ModelConfig]):
    list_display = (
        "name",
        "enabled",
        "is_default",
        "context_window",
        "max_output_tokens",
        "queue",
        "base_url",
        "is_demo",
    )
    list_filter = ("enabled", "is_demo")
    search_fields = ("name",)
    readonly_fields = ("is_demo", "is_default")
    actions = ("use_by_default",)

    @admin.action(description="Use by default", permissions=["change"])
    def use_by_default(self, request: HttpRequest, chosen: models.QuerySet[ModelConfig]) -> None:
        model = chosen.first()
        if model is None or chosen.count() != 1:
            self.message_user(request, "Choose exactly one model.", level="ERROR")
        else:
            model.make_default()


@admin.register(SystemPrompt)
class SystemPromptAdmin(admin.ModelAdmin[SystemPrompt]):
    """One row at most. Deleting it restores the default prompt."""

    list_display = ("__str__", "updated_at")
    formfield_overrides = {models.TextField: {"widget": Textarea(attrs={"rows": 30, "cols": 100})}}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not SystemPrompt.objects.exists()


@admin.register(Feedback)
class FeedbackAdmin(ToRead[Feedback]):
    list_display = ("message", "is_positive", "text", "updated_at")
    list_filter = ("is_positive",)
    list_select_related = ("message",)
    search_fields = ("text", "message__session__owner__username")
