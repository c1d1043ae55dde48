"""The admin of approvals: the rules of tools, and who decided on or answered which call."""

from typing import Any, Final

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import Approval, Run, Session, ToolPolicy
from web.admin.read_only import ReadOnlyAdmin, visible_column
from web.admin.search import SearchAdmin

# What models, tools and their servers have written.
_OF_OTHERS: Final = ("arguments", "edited_arguments", "message", "form", "url", "answer", "note")


@admin.register(ToolPolicy)
class ToolPolicyAdmin(admin.ModelAdmin[ToolPolicy]):
    list_display = ("name", "approval", "holds")
    list_filter = ("approval",)

    @admin.display(description=_("Holds"))
    def holds(self, policy: ToolPolicy) -> str:
        """Say where a rule only makes stricter: a server that got the name later is none that staff meant."""
        return str(_("as it is") if policy.is_current else _("only where it is stricter: save it again"))


@admin.register(Approval)
class ApprovalAdmin(SearchAdmin[Approval], ReadOnlyAdmin[Approval]):
    list_display = (
        "short_id",
        "kind",
        "name",
        "owner",
        "decision",
        "requested_at",
        "decided_at",
        "decided_by",
    )
    list_select_related = ("owner", "decided_by")
    list_filter = ("kind", "decision", "is_remembered", "requested_at")
    ordering = ("-requested_at",)
    owner_field = "owner"
    related_ids = ((Session, "approvals"), (Run, "tool_calls__approval"))
    search_help_text = _("A user's name, the id of an approval, of its session or run.")

    def get_readonly_fields(self, request: HttpRequest, obj: Approval | None = None) -> list[Any]:
        """Leave out the schema, which belongs to the tool and is the same for all of its calls."""
        return [
            visible_column(Approval, name) if name in _OF_OTHERS else name
            for name in super().get_readonly_fields(request, obj)
            if name != "parameters"
        ]
