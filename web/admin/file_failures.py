"""Explanations of failed extractions, and the filter that counts the files of each error code."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from knowledge.models import File, FileStatus

# The texts of chat/protocol/file_errors.py, which API clients receive in English.
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
