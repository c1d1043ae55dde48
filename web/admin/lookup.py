"""The admin's lookup, which opens the page of the run or other row that a pasted id, reference or log line names."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from django.contrib import admin
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from chat.infrastructure.log_context import MAX_REQUEST_ID_CHARACTERS
from chat.models import (
    Agent,
    ChatMessage,
    Compression,
    Run,
    SentRequest,
    Session,
    Share,
    SideRequest,
    ToolCall,
    Turn,
)
from knowledge.models import File, KnowledgeBase, Project
from web.admin.read_only import admin_url

TITLE: Final = _("Look up")
# The tables whose ids are looked up, in order of preference: a log line may name a run and its session.
TABLES: Final[Sequence[type[models.Model]]] = (
    Run, ToolCall, Compression, SentRequest, SideRequest, File, ChatMessage, Turn, Session, Project, KnowledgeBase, Share, Agent,
)  # fmt: skip
# Longer texts are cut before they are searched for ids.
MAX_CHARACTERS: Final = 4_000
MAX_RESULTS: Final = 50
_UUID: Final = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)
# The reference that the chat page displays with an answer: the first digits of its run's id.
_REFERENCE: Final = re.compile(r"\b[0-9a-f]{8}\b(?!-)", re.IGNORECASE)


# The form that chat/infrastructure/log_context.py accepts; clients may choose any id.
_REQUEST_ID: Final = re.compile(rf"[A-Za-z0-9._-]{{1,{MAX_REQUEST_ID_CHARACTERS}}}")


def show_lookup(request: HttpRequest) -> HttpResponse:
    """Redirect to the page of the only row found in the preferred table; otherwise list the rows found."""
    words = request.GET.get("q", "")[:MAX_CHARACTERS].strip()
    rows = list(find_rows(request, words))
    if len(rows) == 1:
        return HttpResponseRedirect(admin_url(rows[0]))
    context = {
        "title": TITLE,
        "words": words,
        "rows": [(_kind(row), str(row), admin_url(row)) for row in rows],
    }
    return render(request, "admin/chat/lookup.html", admin.site.each_context(request) | context)


def find_rows(request: HttpRequest, words: str) -> Iterator[models.Model]:
    """Yield the rows of the first table that has any of the ids in the text; for an answer, its run.

    Only tables that the user may view are searched, and last the runs that a request with such an id has caused.
    """
    ids = {UUID(found) for found in _UUID.findall(words)}
    matches = [(table, models.Q(pk__in=ids)) for table in TABLES]
    matches[0] = (Run, _match_runs(ids, words))
    matches.append((Run, models.Q(turn__request_id__in=set(_REQUEST_ID.findall(words)))))
    for table, match in matches:
        page = admin.site.get_model_admin(table)
        if page.has_view_permission(request):
            rows = list(page.get_queryset(request).filter(match)[:MAX_RESULTS])
            if rows:
                yield from rows
                return


def _match_runs(ids: Collection[UUID], words: str) -> models.Q:
    """Match runs by their ids, by their answers' ids, or by their references."""
    match = models.Q(pk__in=ids) | models.Q(message__in=ids)
    for reference in set(_REFERENCE.findall(words)):
        match |= _begins_with(reference)
    return match


def _begins_with(reference: str) -> models.Q:
    """Match ids that begin with these eight hexadecimal digits; served by the primary key's index."""
    first, last = int(reference + "0" * 24, 16), int(reference + "f" * 24, 16)
    return models.Q(pk__range=(UUID(int=first), UUID(int=last)))


def _kind(row: models.Model) -> Any:
    return row._meta.verbose_name  # noqa: SLF001  Django's documented model API
