"""The admin of files: the extracted text or the reason for a failure, related rows, and an action to extract again."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import F, QuerySet
from django.db.models.functions import Length, Substr
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext_lazy as _

from chat.models import ChatMessage, MessageFile, Session
from chat.protocol.file_errors import FILE_ERRORS
from chat.runs.extraction import extract_again
from knowledge.models import File, KnowledgeBase, Project
from knowledge.models.file import TEXT_PERMISSION
from knowledge.models.knowledge_base import CONTENTS_PERMISSION
from web.admin.action_log import apply_and_log
from web.admin.file_failures import FAILURES, FailureFilter
from web.admin.object_actions import ObjectActionsAdmin
from web.admin.search import SearchAdmin

# Displayed characters of the extracted text, on the page of the file.
SHOWN_CHARACTERS: Final = 2_000
# Displayed messages that have the file, the newest ones.
SHOWN_MESSAGES: Final = 50
# Columns that are not displayed: the text needs a permission of its own, the others are paths in the storage.
HIDDEN: Final = frozenset({"text", "content", "thumbnail", "content_hash"})


@admin.register(File)
class FileAdmin(SearchAdmin[File], ObjectActionsAdmin[File]):
    list_display = (
        "short_id", "name", "owner", "project", "knowledge_base", "kind", "status", "error_code", "size", "token_count", "attempt",
        "failures", "created_at",
    )  # fmt: skip
    list_select_related = ("owner", "project", "knowledge_base")
    list_filter = ("status", FailureFilter, "kind", "created_at")
    ordering = ("-created_at", "-id")
    owner_field = "owner"
    error_field = "error_code"
    error_codes = frozenset(FILE_ERRORS)
    text_fields = ("name",)
    related_ids = (
        (Project, "files"),
        (KnowledgeBase, "documents"),
        (ChatMessage, "attachments__file"),
        (Session, "messages__attachments__file"),
    )
    search_help_text = _(
        "A user's name, words of a file's name, an error code, the id of a file, its project, knowledge base, message or session."
    )
    actions = ("extract_again",)
    object_actions = actions

    def get_queryset(self, request: HttpRequest) -> QuerySet[File]:
        """Hide documents of knowledge bases from staff who may not read them: a title is a part of the contents."""
        files = super().get_queryset(request).defer("text")
        may_read = request.user.has_perm(CONTENTS_PERMISSION)
        return files if may_read else files.filter(knowledge_base__isnull=True)

    def get_readonly_fields(self, request: HttpRequest, obj: File | None = None) -> list[Any]:
        return [name for name in super().get_readonly_fields(request, obj) if name not in HIDDEN]

    def page_context(self, request: HttpRequest, row: File) -> dict[str, Any]:
        context = super().page_context(request, row) | {
            "file": row,
            "failure": FAILURES.get(row.error_code, row.error_code),
            "may_read": request.user.has_perm(TEXT_PERMISSION),
            "attached": _load_messages(row) if request.user.has_perm("chat.view_chatmessage") else None,
        }
        if context["may_read"]:
            context |= self._read(request, row)
        return context

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Return the permission that Django checks for actions with permissions=["operate"]."""
        return request.user.has_perm("knowledge.change_file")

    @admin.action(description=_("Extract again"), permissions=["operate"])
    def extract_again(self, request: HttpRequest, chosen: QuerySet[File]) -> None:
        apply_and_log(self, request, chosen, _("Extract again"), _extract_again)

    @admin.display(description=_("size"), ordering="size_bytes")
    def size(self, file: File) -> str:
        return filesizeformat(file.size_bytes)

    def _read(self, request: HttpRequest, file: File) -> dict[str, Any]:
        """Load the beginning of the text, and log that it was displayed."""
        part = Substr(F("text"), 1, SHOWN_CHARACTERS)
        text, characters = File.objects.values_list(part, Length("text")).get(pk=file.pk)
        if text:
            self.log_change(request, file, f"Text shown: {len(text)} of {characters} characters")
        return {"text": text, "characters": characters, "is_cut": characters > len(text)}


def _load_messages(file: File) -> list[MessageFile]:
    """Return the newest messages that have the file, with the columns for their links and without their texts."""
    attached = MessageFile.objects.filter(file=file).select_related("message__session")
    shown = attached.only("file", "message__sent_at", "message__session__title")
    return list(shown.order_by("-message__sent_at")[:SHOWN_MESSAGES])


def _extract_again(file: File) -> object:
    return _("queued") if extract_again(file.pk) else _("it is being read, or has no content")
