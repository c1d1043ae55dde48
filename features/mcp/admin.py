"""The admin of MCP servers, entered one by one or imported in the format of desktop clients."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from chat.models import McpServer, McpToolList
from chat.models.mcp_server import EDITED
from chat.protocol.errors import ApiError
from features.mcp import server_rules
from features.mcp.imports import ImportRefused, read_servers
from features.mcp.servers import change_server, create_server
from features.mcp.tool_lists import confirm_and_list_again, unconfirmed_tools
from web.admin.tool_calls import load_server_rows, load_tool_rows

_FIELDS = tuple(
    name for field in EDITED for name in ((field, "document_file") if field == "document" else (field,))
)
_DESCRIPTION_CHARACTERS: Final = 120
# Of the calls that are counted.
_DAYS: Final = 30


class McpServerForm(forms.ModelForm[McpServer]):
    class Meta:
        model = McpServer
        fields = EDITED
        widgets = {
            name: forms.Textarea(attrs={"rows": 3, "cols": 60, "spellcheck": "false"})
            for name in ("command", "document", "env", "headers", "query", "enabled_tools")
        }

    document_file = forms.FileField(
        label=_("Document as a file"),
        required=False,
        help_text=_("Of openapi: it takes the place of the document."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Who may only view has no fields.
        if _listed(self.instance) and (before := self.fields.get("enabled_tools")):
            self.fields["enabled_tools"] = _ToolsField(
                label=before.label,
                help_text=before.help_text,
                choices=_choices_of_tools(self.instance),
                required=False,
                widget=forms.CheckboxSelectMultiple,
            )

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        for name in ("command", "enabled_tools"):
            given[name] = given.get(name) or []
        for name in ("env", "headers", "query"):
            given[name] = given.get(name) or {}
        if file := given.pop("document_file", None):
            try:
                given["document"] = file.read().decode("utf-8-sig")
            except UnicodeDecodeError:
                self.add_error("document_file", _("The document is not UTF-8."))
        if self.errors:
            return given
        try:
            is_demo_command = self.instance.is_demo and given["command"] == self.initial.get("command")
            server_rules.check(given, is_demo_command=is_demo_command)
        except ApiError as refused:
            self.add_error(refused.field, refused.message)
        return given


class _ToolsField(forms.MultipleChoiceField):
    """Tools to be ticked. A page that was opened before the server had listed any sends names as JSON."""

    def to_python(self, value: Any) -> list[str]:
        names = super().to_python(value)
        if len(names) != 1 or not names[0].startswith("["):
            return names
        try:
            return list(map(str, json.loads(names[0])))
        except ValueError:
            raise forms.ValidationError(_("This is not JSON.")) from None

    def valid_value(self, value: str) -> bool:  # noqa: ARG002
        return True  # a name that is not listed now, such as of REST


def _choices_of_tools(server: McpServer) -> list[tuple[str, str]]:
    """Return the tools that the server has listed, and those that are chosen and not listed any more."""
    listed = {tool["tool"]: Truncator(" ".join(tool["description"].split())) for tool in server.tools}
    others = [name for name in dict.fromkeys((*_listed(server), *server.enabled_tools)) if name not in listed]
    choices = [(name, f"{name}: {text.chars(_DESCRIPTION_CHARACTERS)}") for name, text in listed.items()]
    return [*choices, *((name, name) for name in others)]


def _listed(server: McpServer) -> Sequence[str]:
    """Return the names of the tools that the server has listed, to everybody or to any user."""
    lists = McpToolList.objects.current().filter(server=server)
    to_users = {tool["tool"] for one in lists for tool in one.tools}
    return sorted(to_users | {tool["tool"] for tool in server.tools})


class ImportForm(forms.Form):
    text = forms.CharField(
        label=_("Servers"),
        widget=forms.Textarea(attrs={"rows": 20, "cols": 80, "spellcheck": "false"}),
        help_text=_(
            'As desktop clients list them: {"mcpServers": {…}}. Write ${VARIABLE} for what workers have in their environment.'
        ),
    )

    def clean_text(self) -> list[dict[str, Any]]:
        try:
            return read_servers(self.cleaned_data["text"])
        except ImportRefused as refused:
            raise forms.ValidationError(str(refused)) from None


def _since() -> datetime:
    return timezone.now() - timedelta(days=_DAYS)


@admin.register(McpServer)
class McpServerAdmin(admin.ModelAdmin[McpServer]):
    form = McpServerForm
    readonly_fields = (
        "status",
        "problem",
        "tool_names",
        "unconfirmed",
        "listed_at",
        "expires_at",
        "created_by",
        "created_at",
    )
    fields = (*_FIELDS, *readonly_fields)
    list_display = ("name", "transport", "is_enabled", "status", "problem", "approval", "listed_at")
    list_filter = ("status", "transport", "is_enabled")
    search_fields = ("id", "name", "url")
    actions = ("list_tools",)
    change_list_template = "admin/chat/mcpserver/change_list.html"

    @admin.display(description=_("tools"))
    def tool_names(self, server: McpServer) -> str:
        return ", ".join(_listed(server)) or "-"

    @admin.display(
        description=_("tools that ask until you save"),
    )
    def unconfirmed(self, server: McpServer) -> str:
        return ", ".join(sorted(unconfirmed_tools([server])[server.pk])) or "-"

    @admin.action(description=_("List the tools again"), permissions=["change"])
    def list_tools(self, request: HttpRequest, servers: QuerySet[McpServer]) -> None:
        for server in servers:
            confirm_and_list_again(server)
        self.message_user(request, _("Workers list the tools now."))

    def get_queryset(self, request: HttpRequest) -> QuerySet[McpServer]:
        return super().get_queryset(request).defer("document")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        shown = {"calls": load_server_rows(_since()), "days": _DAYS} if request.method == "GET" else {}
        return super().changelist_view(request, {**(extra_context or {}), **shown})

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        if (server := kwargs.get("obj")) is not None:
            context |= {"calls": load_tool_rows(_since(), server.name), "days": _DAYS}
        return super().render_change_form(request, context, *args, **kwargs)

    def save_model(self, request: HttpRequest, obj: McpServer, form: Any, change: bool) -> None:
        given = {name: form.cleaned_data[name] for name in EDITED}
        if change:
            server = McpServer.objects.get(pk=obj.pk)
            change_server(server, given)
            confirm_and_list_again(server)
        else:
            obj.pk = create_server(cast("User", request.user), given).pk

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.import_servers)
        return [path("import/", view, name="chat_mcpserver_import"), *super().get_urls()]

    def import_servers(self, request: HttpRequest) -> HttpResponse:
        """Add all servers of a list, or none if one of them is refused."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = ImportForm(request.POST or None)
        if form.is_valid() and self._add(request, form):
            return HttpResponseRedirect(reverse("admin:chat_mcpserver_changelist"))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Import MCP servers"),
            "form": form,
        }
        return TemplateResponse(request, "admin/chat/mcpserver/import.html", context)

    def _add(self, request: HttpRequest, form: ImportForm) -> bool:
        try:
            with transaction.atomic():
                for fields in form.cleaned_data["text"]:
                    name = fields["name"]
                    self.log_addition(request, create_server(cast("User", request.user), fields), "import")
        except ApiError as refused:
            form.add_error("text", f"{name}: {refused.message}")
            return False
        self.message_user(
            request, _("The servers were added. Workers list their tools now."), messages.SUCCESS
        )
        return True
