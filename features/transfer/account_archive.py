"""The export of everything of an account as one zip archive, in pieces.
It contains the user's profile, chats, projects, files, preferences, agents, saved prompts and knowledge bases.

Each chat is an archive in the format of a single export, so that it can be imported. Nothing of other people is
included: only bases that the user owns, without their members. Memory holds one chunk, and the listed rows.
"""

import re
import zipfile
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import path
from django.utils.http import content_disposition_header
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from knox.models import AuthToken
from msgspec import json, structs

from chat.models import Agent, Login, MessageFile, ModelConfig, Preferences, Session
from chat.presenters.files import present_file
from chat.presenters.json_values import JSONObject, isoformat_or_none, isoformat_utc
from chat.presenters.sessions import annotate_sessions, present_trashed_session
from chat.sessions.portable.archive_writer import Pipe, as_zip, compressed, write_content
from features.agents.api import present_agents
from features.knowledge_bases.document_api import present_documents
from features.projects.api import present_projects
from features.prompts.api import present_saved_prompt
from features.prompts.models import SavedPrompt
from features.usage.api import SOURCES, present_limit_use
from knowledge.models import Document, File, KnowledgeBase, KnowledgeBaseMember, Project
from web.rest.preferences import present_preferences
from web.rest.request_slots import EXPORTS
from web.rest.streaming import streamed

# The length of an entry's name: users choose names of files, and paths of Windows are short.
_NAME_CHARACTERS: Final = 80
# Rows that are read at a time.
_ROWS: Final = 100


@require_safe
@never_cache
@login_required
def export_account(request: HttpRequest) -> StreamingHttpResponse:
    user = User.objects.get(username=request.user.get_username())
    name = f"{user.get_username()}-{datetime.now(UTC):%Y-%m-%d}.zip"
    headers = {"Content-Disposition": content_disposition_header(True, name)}
    slot = EXPORTS.take(user.pk)
    return streamed(request, account_archive(user), slot, content_type="application/zip", headers=headers)


def account_archive(user: User) -> Iterator[bytes]:
    """Yield the archive in pieces. Rows that are deleted meanwhile are left out."""
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w") as archive:
        listed = {
            "account.json": _account(user),
            "preferences.json": present_preferences(Preferences.objects.of_user(user)),
            "agents.json": present_agents(Agent.objects.filter(owner=user), user),
            "prompts.json": [
                present_saved_prompt(prompt) for prompt in SavedPrompt.objects.filter(owner=user)
            ],
            "projects.json": present_projects(list(Project.objects.filter(owner=user))),
        }
        for name, content in listed.items():
            yield from _write_json(archive, pipe, name, content)
        yield from _write_chats(archive, pipe, user)
        yield from _write_files(archive, pipe, user)
        yield from _write_bases(archive, pipe, user)
    yield pipe.take()


def _account(user: User) -> JSONObject:
    columns = ("scope_row__name", "created", "expiry", "scope_row__last_used_at")
    tokens = AuthToken.objects.filter(user=user).order_by("created").values_list(*columns)
    return {
        "username": user.get_username(),
        "first_name": user.first_name,
        "last_name": user.last_name,
        "email": user.email,
        "joined_at": isoformat_utc(user.date_joined),
        "last_login_at": isoformat_or_none(user.last_login),
        "groups": list(user.groups.order_by("name").values_list("name", flat=True)),
        "limits": [present_limit_use(use) for source in SOURCES for use in source(user)],
        "logins": [
            {"user_agent": one.user_agent, "created_at": isoformat_utc(one.created_at)}
            for one in Login.objects.filter(user=user).lasting()
        ],
        "api_tokens": [
            {
                "name": name,
                "created_at": isoformat_utc(created),
                "expires_at": isoformat_or_none(expiry),
                "last_used_at": isoformat_or_none(last_used),
            }
            for name, created, expiry, last_used in tokens
        ],
    }


def _write_chats(archive: zipfile.ZipFile, pipe: Pipe, user: User) -> Iterator[bytes]:
    """Yield the archive's pieces with the chats, including those in the trash with `deleted_at` and `purge_at`."""
    listed: list[JSONObject] = []
    for pks in _batches(Session.with_trash.filter(owner=user).listed().order_by("created_at", "pk")):
        for session in annotate_sessions(Session.with_trash.filter(pk__in=pks)).order_by("created_at", "pk"):
            entry = _entry("chats", len(listed) + 1, f"{session.title}.zip")
            listed.append({**present_trashed_session(session), "entry": entry})
            # Sizes are known only at the end, and may need 64 bits.
            with archive.open(zipfile.ZipInfo(entry), "w", force_zip64=True) as member:
                for piece in as_zip(session):
                    member.write(piece)
                    yield pipe.take()
    yield from _write_json(archive, pipe, "chats.json", listed)


def _write_files(archive: zipfile.ZipFile, pipe: Pipe, user: User) -> Iterator[bytes]:
    """Yield the archive's pieces with the files, including images of tools, for which archives of chats may have no room.
    Files of messages are left out: they are in the archives of their chats.
    """
    attached = MessageFile.objects.filter(file__owner=user).values("file")
    models = list(ModelConfig.objects.offered())
    listed: list[JSONObject] = []
    for pks in _batches(
        File.objects.downloadable_by(user).exclude(pk__in=attached).order_by("created_at", "pk")
    ):
        for file in File.objects.filter(pk__in=pks).defer("text").order_by("created_at", "pk"):
            entry = _entry("files", len(listed) + 1, file.name)
            stored = yield from _write_stored(archive, pipe, entry, file)
            listed.append({**present_file(file, models), **stored})
    yield from _write_json(archive, pipe, "files.json", listed)


def _write_bases(archive: zipfile.ZipFile, pipe: Pipe, user: User) -> Iterator[bytes]:
    listed: list[JSONObject] = []
    owned = KnowledgeBaseMember.objects.owners().accepted().filter(user=user).values("knowledge_base")
    for base in KnowledgeBase.objects.filter(pk__in=owned).order_by("created_at", "pk"):
        folder = _entry("knowledge-bases", len(listed) + 1, base.name)
        documents: list[JSONObject] = []
        for pks in _batches(Document.objects.filter(knowledge_base=base).order_by("created_at", "pk")):
            found = Document.objects.filter(pk__in=pks).select_related("served").defer("text")
            rows = list(found.order_by("created_at", "pk"))
            for row, shape in zip(rows, present_documents(rows), strict=True):
                # While a replacement is read, that is the version before it.
                row.name, row.content = row.shown.name, row.shown.content
                entry = _entry(folder, len(documents) + 1, row.name)
                stored = yield from _write_stored(archive, pipe, entry, row)
                documents.append({**shape, **stored})
        listed.append(_base(base, documents))
    yield from _write_json(archive, pipe, "knowledge-bases.json", listed)


def _base(base: KnowledgeBase, documents: list[JSONObject]) -> JSONObject:
    return {
        "id": str(base.pk),
        "name": base.name,
        "summary": base.summary,
        "topics": base.topics,
        "routing_hint": base.routing_hint,
        "routing_keywords": base.routing_keywords,
        "created_at": isoformat_utc(base.created_at),
        "documents": documents,
    }


def _write_stored(
    archive: zipfile.ZipFile, pipe: Pipe, entry: str, file: File
) -> Generator[bytes, None, JSONObject]:
    """Yield the archive's next pieces; return `entry` and `sha256` of the content, or that it `is_missing`."""
    described = structs.asdict((yield from write_content(archive, pipe, entry, file)))
    return {name: described[name] for name in ("entry", "sha256", "is_missing")}


def _write_json(archive: zipfile.ZipFile, pipe: Pipe, name: str, content: Any) -> Iterator[bytes]:
    with archive.open(compressed(name), "w") as member:
        member.write(json.format(json.encode(content), indent=1) + b"\n")
    yield pipe.take()


def _batches(rows: Any) -> Iterator[list[UUID]]:
    """Yield the keys of the rows in batches. They are read once, since writing takes long and rows change meanwhile."""
    pks = list(rows.values_list("pk", flat=True))
    for start in range(0, len(pks), _ROWS):
        yield pks[start : start + _ROWS]


def _entry(folder: str, number: int, name: str) -> str:
    """Return a path below the folder for any name. The number makes it unique."""
    words = re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|]+', " ", name).strip(" .")
    stem, dot, ending = words.rpartition(".")
    if dot and len(ending) < 10:
        words = f"{stem[: _NAME_CHARACTERS - len(ending) - 1]}.{ending}"
    return f"{folder}/{number} {words[:_NAME_CHARACTERS]}".strip(" .")


urlpatterns = [path("profile/export/", export_account, name="export_account")]
