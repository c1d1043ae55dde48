"""The admin of files: the extracted text or the reason for a failure, related rows, and an action to extract again."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import Count, F, QuerySet
from django.db.models.functions import Length, Substr
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext_lazy as _

from chat.models import ChatMessage, MessageFile, Session
from chat.protocol.errors import FILE_ERRORS
from chat.runs.new_files import extract_again
from knowledge.models import File, FileStatus, KnowledgeBase, Project
from knowledge.models.file import TEXT_PERMISSION
from knowledge.models.knowledge_base import CONTENTS_PERMISSION
from web.admin.actions import ObjectActionsAdmin, apply_and_log
from web.admin.search import SearchAdmin

# Displayed characters of the extracted text, on the page of the file.
SHOWN_CHARACTERS: Final = 2_000
# Displayed messages that have the file, the newest ones.
SHOWN_MESSAGES: Final = 50
# Columns that are not displayed: the text needs a permission of its own, the others are paths in the storage.
HIDDEN: Final = frozenset({"text", "content", "thumbnail", "content_hash"})
# The texts of chat/protocol/errors.py, which API clients receive in English.
FAILURES: Final = {
    "file_type_unsupported": _("Files of this type cannot be read."),
    "file_missing": _("The content of the file is gone. Upload it again."),
    "content_missing": _("The file was imported without its content. Upload it again."),
    "file_unreadable": _("The file could not be read."),
    "document_corrupt": _("The document is damaged, or is not what its name says."),
    "document_encrypted": _("The document is protected by a password."),
    "document_limits": _("The document is too large to be read."),
    "document_unsafe": _("The document contains XML constructs that are not accepted."),
    "archive_limits": _("The archive unpacks to too much, or holds further archives."),
    "archive_unsafe": _("The archive holds names that lead outside of it."),
    "image_corrupt": _("The picture is damaged."),
    "image_limits": _("The picture has too many pixels."),
    "storage_full": _("There is no room for the text of the file. Delete some chats or files first."),
    "too_many_chunks": _("There is no room for more texts that are searched."),
    "url_scheme_blocked": _("Only addresses that begin with http:// or https:// are read."),
    "url_address_blocked": _(
        "This address is not read: it does not lead to a public server, or has a port or a user name."
    ),
    "url_unreachable": _("The server of the address does not answer."),
    "too_many_redirects": _("The address leads to others too often."),
    "response_too_large": _("What the address leads to is too large."),
    "content_type_unsupported": _("What the address leads to is not a text."),
    "http_error": _("The server of the address answered with an error."),
    "timeout": _("The server of the address took too long."),
    "tls_error": _("The connection to the server of the address is not secure."),
}


class FailureFilter(admin.SimpleListFilter):
    """A filter by error code, most frequent first, with the number of files. An index of failed files counts them."""

    title, parameter_name = _("failure"), "error_code"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        failed = File.objects.filter(status=FileStatus.FAILED).order_by().values_list("error_code")
        counted = failed.annotate(files=Count("pk")).order_by("-files", "error_code")
        return [(code, f"{code} ({files})") for code, files in counted]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        code = self.value()
        return queryset.filter(status=FileStatus.FAILED, error_code=code) if code else None


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
