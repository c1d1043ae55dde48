"""The admin of messages and turns (read-only), and of model configurations, the system prompt and suggestions (editable)."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.db.models import Field
from django.forms import Textarea
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat.events import offered_models
from chat.models import (
    ChatMessage,
    ModelConfig,
    Run,
    Session,
    Suggestion,
    SystemPrompt,
    ToolCall,
    Turn,
    run_of,
)
from chat.transcript.answer_settings import OPTION_NAMES
from chat.transcript.dialect import TRAITS
from chat.transcript.readable_text import readable_text
from web.admin.compressions import SummaryCompressionInline, count_covered_messages
from web.admin.read_only import ReadOnlyAdmin, ReadOnlyInline, link, or_dash
from web.admin.search import SearchAdmin
from web.admin.tool_calls import AttachmentInline, CitationInline, PromptBlockInline, ToolCallInline


class RunInline(ReadOnlyInline):
    model = Run
    fields = ("model_index", "model", "status", "attempt", "failures", "error_code", "time_to_first_token_ms")


@admin.register(ChatMessage)
class ChatMessageAdmin(SearchAdmin[ChatMessage], ReadOnlyAdmin[ChatMessage]):
    list_display = ("short_id", "role", "excerpt", "owner", "answered_by_run", "token_count", "sent_at")
    list_select_related = ("session__owner", "run", "edited")
    list_filter = ("role", "sent_at")
    ordering = ("-sent_at",)
    owner_field = "session__owner"
    text_lookup = ("pk", "id")
    related_ids = ((Run, "message"), (Session, "messages"))
    search_help_text = _(
        "A user's name, words of a text (in quotes, if a user is called so), the id of a message, its run or session."
    )
    inlines = (ToolCallInline, AttachmentInline, CitationInline, PromptBlockInline, SummaryCompressionInline)

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[ChatMessage]:
        calls = ToolCall.objects.only("message", "turn_number", "text_before")
        return super().get_queryset(request).prefetch_related(models.Prefetch("tool_calls", calls))

    def get_readonly_fields(self, request: HttpRequest, obj: ChatMessage | None = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), "covered_messages"]

    @admin.display(description=_("covered messages"))
    def covered_messages(self, message: ChatMessage) -> object:
        return or_dash(count_covered_messages(message))

    @admin.display(description=_("text"))
    def excerpt(self, message: ChatMessage) -> str:
        calls = message.tool_calls.all()
        return readable_text(message.text, ((call.turn_number, call.text_before) for call in calls))[:80]

    @admin.display(description=_("owner"))
    def owner(self, message: ChatMessage) -> str:
        return message.session.owner.get_username()

    @admin.display(description=_("run"))
    def answered_by_run(self, message: ChatMessage) -> SafeString | str:
        run = run_of(message)
        if run is None and getattr(message, "edited", None):
            return str(_("edited by the user"))
        return link(run.get_status_display() if run else "", run)


@admin.register(Turn)
class TurnAdmin(SearchAdmin[Turn], ReadOnlyAdmin[Turn]):
    list_display = ("short_id", "owner", "question", "created_at", "ended_at")
    list_select_related = ("session__owner", "user_message")
    list_filter = ("created_at",)
    ordering = ("-created_at",)
    owner_field = "session__owner"
    text_lookup = ("user_message", "id")
    related_ids = ((Run, "turn"), (Session, "turns"), (ChatMessage, "turns"), (ChatMessage, "run__turn"))
    search_help_text = _(
        "A user's name, words of a question, the id of a turn, of its run, question or session."
    )
    inlines = (RunInline,)

    @admin.display(description=_("owner"))
    def owner(self, turn: Turn) -> str:
        return turn.session.owner.get_username()

    @admin.display(description=_("question"))
    def question(self, turn: Turn) -> SafeString | str:
        return link(turn.user_message.text[:80] or "-", turn.user_message)


class ModelConfigForm(forms.ModelForm[ModelConfig]):
    """A form that offers the options by name."""

    unsupported_options = forms.MultipleChoiceField(
        label=_("Unsupported options"),
        choices=[(name, name) for name in OPTION_NAMES],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "Options of a turn that its server refuses: they are not offered, and refused with their name."
        ),
    )

    dialect = forms.MultipleChoiceField(
        label=_("Dialect"),
        choices=[(name, name) for name in TRAITS],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "What its server refuses or omits. Learned from its refusals; forgotten when its address or name changes."
        ),
    )

    class Meta:
        model = ModelConfig
        fields = (
            "name", "enabled", "provider", "upstream_name", "base_url", "api_key_env", "context_window", "max_output_tokens", "supports_vision",
            "supports_tools", "supports_prefill", "supports_tool_choice_none", "supports_prompt_cache_key",
            "requires_alternating_roles", "unsupported_options", "dialect", "refused_tools", "max_tools", "max_requests", "queue", "tokenizer", "prompt_price",
            "cached_price", "completion_price",
        )  # fmt: skip


@admin.register(ModelConfig)
class ModelConfigAdmin(admin.ModelAdmin[ModelConfig]):
    list_display = (
        "name",
        "enabled",
        "is_default",
        "context_window",
        "max_output_tokens",
        "token_factor",
        "queue",
        "provider",
        "base_url",
        "is_demo",
        "problem",
        "redirect",
    )
    list_select_related = ("provider",)
    list_filter = ("enabled", "is_demo")
    search_fields = ("name",)
    readonly_fields = ("token_factor", "token_samples", "is_demo", "is_default", "redirect")
    actions = ("use_by_default", "measure_tokens_anew")
    form = ModelConfigForm

    @admin.display(description=_("cannot be used because"), empty_value="")
    def problem(self, model: ModelConfig) -> str | None:
        return " ".join(model.problems().values()) or None

    @admin.display(description=_("the address redirects"), empty_value="")
    def redirect(self, model: ModelConfig) -> str | None:
        target = model.redirect_at(model.source)
        said = _("The server sends requests to %(address)s. Enter that address.")
        return str(said) % {"address": target} if target else None

    @admin.action(description=_("Use by default"), permissions=["change"])
    def use_by_default(self, request: HttpRequest, chosen: models.QuerySet[ModelConfig]) -> None:
        model = chosen.first()
        if model is None or chosen.count() != 1:
            self.message_user(request, _("Choose exactly one model."), level="ERROR")
        else:
            model.make_default()
            offered_models.announce_change()

    def save_model(self, request: HttpRequest, obj: ModelConfig, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not obj.is_demo:
            ModelConfig.objects.ensure_default()
        offered_models.announce_change()

    @admin.action(description=_("Measure the token factor anew"), permissions=["change"])
    def measure_tokens_anew(self, request: HttpRequest, chosen: models.QuerySet[ModelConfig]) -> None:
        count = ModelConfig.objects.filter(pk__in=chosen).forget_token_factor()
        self.message_user(
            request,
            ngettext(
                "%(n)d model is estimated without a factor until its server reports counts again.",
                "%(n)d models are estimated without a factor until their servers report counts again.",
                count,
            )
            % {"n": count},
        )


@admin.register(SystemPrompt)
class SystemPromptAdmin(admin.ModelAdmin[SystemPrompt]):
    """The system prompt, at most one row. Deleting it restores the default prompt."""

    list_display = ("__str__", "updated_at")
    formfield_overrides = {models.TextField: {"widget": Textarea(attrs={"rows": 30, "cols": 100})}}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not SystemPrompt.objects.exists()


@admin.register(Suggestion)
class SuggestionAdmin(admin.ModelAdmin[Suggestion]):
    list_display = ("text", "position")
    list_editable = ("position",)

    def formfield_for_dbfield(
        self, db_field: "Field[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> forms.Field | None:
        """Give the inputs of the list an accessible name, since they have no labels."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and db_field.name in self.list_editable:
            field.widget.attrs["aria-label"] = capfirst(db_field.verbose_name)
        return field
