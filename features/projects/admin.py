"""The admin of projects: their files, sessions and, for staff with the permission, instructions."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import Count, QuerySet, Sum
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import Session
from knowledge.models import File, Project
from knowledge.models.project import INSTRUCTIONS_PERMISSION
from web.admin.held_files import aggregate_held, load_held_files
from web.admin.read_only import ReadOnlyAdmin
from web.admin.search import SearchAdmin

# Displayed sessions on the page of the project, the newest ones; their list has all.
SHOWN_SESSIONS: Final = 50


@admin.register(Project)
class ProjectAdmin(SearchAdmin[Project], ReadOnlyAdmin[Project]):
    list_display = ("short_id", "name", "owner", "files", "tokens", "sessions", "created_at", "updated_at")
    list_select_related = ("owner",)
    list_filter = ("created_at", "updated_at")
    ordering = ("-updated_at", "-id")
    owner_field = "owner"
    text_fields = ("name",)
    related_ids = ((File, "project"), (Session, "project"))
    search_help_text = _("A user's name, words of a name, the id of a project, of a file or session in it.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Project]:
        """Add the numbers of files, tokens and sessions. They are computed only for the rows of one page."""
        numbers = {
            "file_count": aggregate_held(File, "project", Count("pk")),
            "token_sum": aggregate_held(File, "project", Sum("token_count")),
            "session_count": aggregate_held(Session, "project", Count("pk")),
        }
        return super().get_queryset(request).annotate(**numbers)

    def get_readonly_fields(self, request: HttpRequest, obj: Project | None = None) -> list[str]:
        may_read = request.user.has_perm(INSTRUCTIONS_PERMISSION)
        names = super().get_readonly_fields(request, obj)
        return [name for name in names if may_read or name != "instructions"]

    def page_context(self, request: HttpRequest, row: Project) -> dict[str, Any]:
        may_read = request.user.has_perm(INSTRUCTIONS_PERMISSION)
        if may_read and row.instructions:
            self.log_change(request, row, f"Instructions shown: {len(row.instructions)} characters")
        return super().page_context(request, row) | {
            "project": row,
            "may_read": may_read,
            "held_files": load_held_files(File.objects.filter(project=row))
            if request.user.has_perm("knowledge.view_file")
            else None,
            "held_sessions": _load_sessions(row) if request.user.has_perm("chat.view_session") else None,
        }

    @admin.display(description=_("files"))
    def files(self, project: Any) -> int:
        return int(project.file_count)

    @admin.display(description=_("tokens"))
    def tokens(self, project: Any) -> int:
        return int(project.token_sum)

    @admin.display(description=_("sessions"))
    def sessions(self, project: Any) -> int:
        return int(project.session_count)


def _load_sessions(project: Project) -> list[Session]:
    sessions = Session.objects.filter(project=project).order_by("-updated_at")
    return list(sessions.only("title", "updated_at")[:SHOWN_SESSIONS])
