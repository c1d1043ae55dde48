"""The admin of sessions: the tree of messages, and actions to stop, compress and export.

Conversations belong to their users: staff neither write nor delete them here.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from chat.compressions import requests as compression_requests
from chat.models import ChatMessage, Run, Session, TriggeredBy, Turn
from chat.runs.cancellation import stop_run
from chat.sessions.portable.exporter import as_json
from chat.sessions.portable.markdown import as_markdown
from knowledge.models import Project
from web.admin.actions import ObjectActionsAdmin, apply_and_log
from web.admin.compressions import compressions_per_turns
from web.admin.model_requests import RunSideRequestInline
from web.admin.read_only import or_dash
from web.admin.search import SearchAdmin, TrashFilter
from web.admin.session_tree import load_tree

# Displayed compressions on the session's page, the newest ones; their own list has all.
COMPRESSIONS: Final = 20
TYPES: Final = {"json": "application/json", "md": "text/markdown; charset=utf-8"}


@admin.register(Session)
class SessionAdmin(SearchAdmin[Session], ObjectActionsAdmin[Session]):
    list_display = ("shown_title", "owner", "message_list", "created_at", "updated_at")
    list_select_related = ("owner",)
    list_filter = (TrashFilter, "created_at", "updated_at")
    ordering = ("-updated_at",)
    owner_field = "owner"
    text_fields = ("title",)
    text_lookup = ("pk", "session_id")
    related_ids = (
        (ChatMessage, "session"),
        (Run, "turn__session"),
        (Turn, "session"),
        (Project, "sessions"),
    )
    search_help_text = _(
        "A user's name, words of a title or a text, the id of a session or of anything in it."
    )
    actions = ("stop", "compress", "export_json", "export_markdown")
    object_actions = actions
    inlines = (RunSideRequestInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Session]:  # noqa: ARG002
        return Session.with_trash.order_by(*self.ordering)

    def page_context(self, request: HttpRequest, row: Session) -> dict[str, Any]:
        tree = load_tree(row, _parse_uuid(request.GET.get("at")))
        context = super().page_context(request, row) | {"tree": tree}
        if request.user.has_perm("chat.view_compression"):
            context["latest_compressions"] = row.compressions.order_by("-created_at")[:COMPRESSIONS]
        return context

    def get_readonly_fields(self, request: HttpRequest, obj: Session | None = None) -> list[Any]:
        return [*super().get_readonly_fields(request, obj), "compressions"]

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Return the permission that Django checks for actions with permissions=["operate"]."""
        return request.user.has_perm("chat.change_session")

    @admin.action(description=_("Stop what is being answered"), permissions=["operate"])
    def stop(self, request: HttpRequest, chosen: QuerySet[Session]) -> None:
        apply_and_log(self, request, chosen, _("Stop"), _stop)

    @admin.action(description=_("Compress the current branch"), permissions=["operate"])
    def compress(self, request: HttpRequest, chosen: QuerySet[Session]) -> None:
        apply_and_log(self, request, chosen, _("Compress"), _compress)

    @admin.action(description=_("Export as JSON"), permissions=["view"])
    def export_json(self, request: HttpRequest, chosen: QuerySet[Session]) -> HttpResponse | None:
        return self._export(request, chosen, as_json, "json")

    @admin.action(description=_("Export as Markdown"), permissions=["view"])
    def export_markdown(self, request: HttpRequest, chosen: QuerySet[Session]) -> HttpResponse | None:
        return self._export(request, chosen, partial(as_markdown, whole=True), "md")

    @admin.display(description=_("compressions per 20 turns"))
    def compressions(self, session: Session) -> object:
        return or_dash(compressions_per_turns(session))

    @admin.display(description=_("title"), ordering="title")
    def shown_title(self, session: Session) -> str:
        return session.title or str(session.pk)

    @admin.display(description=_("messages"))
    def message_list(self, session: Session) -> SafeString:
        url = reverse("admin:chat_chatmessage_changelist")
        return format_html('<a href="{}?session__id__exact={}">{}</a>', url, session.pk, _("messages"))

    def _export(
        self,
        request: HttpRequest,
        chosen: QuerySet[Session],
        write: Callable[[Session], Iterable[bytes]],
        ending: str,
    ) -> HttpResponse | None:
        """Return the whole tree as a file. Only one session is exported at a time: the file is built in memory."""
        if chosen.count() != 1:
            self.message_user(request, _("Choose exactly one session."), messages.ERROR)
            return None
        session = chosen.get()
        if session.is_temporary:
            self.message_user(request, _("A temporary chat is not exported."), messages.ERROR)
            return None
        content = b"".join(write(session))
        self.log_change(request, session, f"Export as {ending}: {len(content)} bytes")
        headers = {"Content-Disposition": f'attachment; filename="session-{session.pk}.{ending}"'}
        return HttpResponse(content, content_type=TYPES[ending], headers=headers)


def _stop(session: Session) -> object:
    live = Run.objects.live().filter(turn__session=session).values_list("pk", flat=True)
    stopped = [stop_run(pk).status for pk in live]
    if not stopped:
        return _("nothing is being answered")
    return ngettext_lazy("%(n)d run", "%(n)d runs", len(stopped)) % {"n": len(stopped)}


def _compress(session: Session) -> object:
    # One in the trash is not compressed.
    asked = not session.deleted_at and compression_requests.request_by_hand(session, TriggeredBy.STAFF)
    return _("queued") if asked else _("nothing to compress, or it is under way")


def _parse_uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text or "")
    except ValueError:
        return None
