"""Quotas: how much of something a user may keep, from settings of which 0 means without limit.

Rows are counted under a lock on the user's row, so creations side by side do not pass a limit together. What staff
creates in the admin or on the command line is counted and not refused.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import BigIntegerField, F, Func, QuerySet, Sum
from knox.models import AuthToken
from redis.exceptions import RedisError

from chat.infrastructure import socket_registry
from chat.models import Agent, SavedPrompt, Session, StoredBytes
from chat.protocol.errors import ApiError
from chat.protocol.limit_use import LimitUse
from knowledge.models import File, KnowledgeBase, Project

logger = logging.getLogger(__name__)


class RowQuota(NamedTuple):
    """A quota of rows. code: of the refusal. rows: those of a user that count."""

    code: str
    setting: str
    rows: Callable[[User], QuerySet[Any]]

    @property
    def max(self) -> int:
        """0: no limit."""
        limit: int = getattr(settings, self.setting)
        return limit

    def use(self, user: User) -> int:
        return self.rows(user).count()

    def check(self, user: User, new: int = 1) -> None:
        """Raise ApiError if the user has no room for so many more now."""
        if self.max and self.use(user) + new > self.max:
            raise ApiError(self.code, max=self.max)

    @contextmanager
    def room_for_one(self, user: User) -> Iterator[None]:
        """A transaction in which the user may create one more. Raises ApiError if there is no room.

        Inside another transaction the lock lasts until the end of that one; take the locks of sessions before it.
        """
        with transaction.atomic():
            lock_user(user)
            self.check(user)
            yield


def limit_uses(user: User) -> Iterator[LimitUse]:
    """All quotas of a user; without open sockets while Redis is unreachable."""
    rows = (
        (SESSIONS, "sessions"),
        (AGENTS, "agents"),
        (PROMPTS, "prompts"),
        (PROJECTS, "projects"),
        (FILES, "files"),
        (TOKENS, "tokens"),
        (KNOWLEDGE_BASES, "knowledge_bases"),
    )
    for quota, unit in rows:
        yield LimitUse(unit, quota.use(user), quota.max or None, unit)
    yield LimitUse("waiting_files", WAITING_FILES.use(user), WAITING_FILES.max or None, "files")
    yield LimitUse("chunks", count_chunks(user.pk), settings.MAX_CHUNKS_PER_USER or None, "chunks")
    # The sum made last: clients ask often.
    stored = StoredBytes.objects.filter(user=user).values_list("total", flat=True).first()
    yield LimitUse("stored_bytes", stored or 0, settings.MAX_STORED_BYTES_PER_USER or None, "bytes")
    try:
        open_sockets = socket_registry.count_now(user.pk)
    except RedisError as error:
        logger.warning("user %s: open sockets are not counted: %s", user.pk, error)
    else:
        yield LimitUse("sockets", open_sockets, settings.MAX_SOCKETS_PER_USER or None, "sockets")


# Expired tokens count until they are deleted, and sessions in the trash until they are deleted for good.
SESSIONS: Final = RowQuota("too_many_sessions", "MAX_SESSIONS_PER_USER", Session.with_trash.visible_to)
AGENTS: Final = RowQuota("too_many_agents", "MAX_AGENTS_PER_USER", Agent.objects.visible_to)
PROMPTS: Final = RowQuota("too_many_prompts", "MAX_PROMPTS_PER_USER", SavedPrompt.objects.visible_to)
PROJECTS: Final = RowQuota("too_many_projects", "MAX_PROJECTS_PER_USER", Project.objects.visible_to)
TOKENS: Final = RowQuota(
    "too_many_tokens", "MAX_API_TOKENS_PER_USER", lambda user: AuthToken.objects.filter(user=user)
)
FILES: Final = RowQuota("too_many_files", "MAX_FILES_PER_USER", File.objects.visible_to)
# Those that wait to be read or are being read, documents included.
WAITING_FILES: Final = RowQuota(
    "too_many_waiting_files",
    "MAX_WAITING_FILES_PER_USER",
    lambda user: File.objects.not_ended().filter(owner=user),
)
# What a base holds counts for its owner, whoever of its members adds it.
KNOWLEDGE_BASES: Final = RowQuota(
    "too_many_knowledge_bases",
    "MAX_KNOWLEDGE_BASES_PER_USER",
    lambda user: KnowledgeBase.objects.filter(owner=user, members__user=user),
)


def lock_user(user: User) -> None:
    """Until the end of the transaction, others who lock this user wait. Inserts of rows that refer to the user do not."""
    list(User.objects.select_for_update(no_key=True).filter(pk=user.pk).values_list("pk"))


def count_chunks(user_id: int) -> int:
    """Those that searches find, of the user's files and of documents in the user's knowledge bases."""
    return _sum_chunks(File.objects.filter(owner=user_id))


def check_chunks(user_id: int) -> None:
    """Raise ApiError if searches find as many chunks of this user as they may: how many a new text has is not known yet."""
    most = settings.MAX_CHUNKS_PER_USER
    if most and count_chunks(user_id) >= most:
        raise ApiError("too_many_chunks", max=most)


def has_room_for_chunks(file: File) -> bool:
    """Whether the text of a file may be found: one text may exceed what there is room for, so that none has to be counted twice."""
    most = settings.MAX_CHUNKS_PER_USER
    return not most or _sum_chunks(File.objects.filter(owner=file.owner_id).exclude(pk=file.pk)) < most


@contextmanager
def room_for_text(file: File, text: str) -> Iterator[bool]:
    """A transaction in which a text that was extracted may be stored, or may not: then the user's storage is full.

    A small file may hold a long text. Texts of one user wait for each other.
    """
    with transaction.atomic():
        lock_user(User(pk=file.owner_id))
        yield not text or _has_room_for_text(file, text)


def _has_room_for_text(file: File, text: str) -> bool:
    most = settings.MAX_STORED_BYTES_PER_USER
    if not most:
        return True
    octets = Func(F("text"), function="octet_length", output_field=BigIntegerField())
    before = File.objects.filter(pk=file.pk).values_list(octets, flat=True).first() or 0
    return StoredBytes.objects.sum_of(file.owner_id) - before + len(text.encode()) <= most


def _sum_chunks(files: Any) -> int:
    return int(files.aggregate(chunks=Sum("chunk_count"))["chunks"] or 0)


def has_room_for_base(user: User, base: KnowledgeBase) -> bool:
    """Whether a base of another owner, with all that it holds, may count for this user. The caller has locked the user."""
    most_chunks, most_bytes = settings.MAX_CHUNKS_PER_USER, settings.MAX_STORED_BYTES_PER_USER
    stored = StoredBytes.objects
    return (
        (not KNOWLEDGE_BASES.max or KNOWLEDGE_BASES.use(user) < KNOWLEDGE_BASES.max)
        and (not most_chunks or count_chunks(user.pk) + _sum_chunks(base.documents) <= most_chunks)
        and (not most_bytes or stored.sum_of(user.pk) + stored.sum_of_base(base.pk) <= most_bytes)
    )


def check_documents(base: KnowledgeBase) -> None:
    """Raise ApiError if a knowledge base has no room for one more document."""
    most = settings.MAX_DOCUMENTS_PER_BASE
    if most and base.documents.count() >= most:
        raise ApiError("too_many_documents", max=most)


def check_storage(user_id: int, summed: int, new_bytes: int = 1) -> None:
    """Raise ApiError if the user has no room for so many more bytes.

    summed: what StoredBytes says, or the user has at least. Only a sum over the limit is checked against what is there
    now: chats may have been deleted since.
    """
    most = settings.MAX_STORED_BYTES_PER_USER
    if most and summed + new_bytes > most and StoredBytes.objects.sum_of(user_id) + new_bytes > most:
        raise ApiError("storage_full", max=most)


def check_answers(stored: int, new: int) -> None:
    """Raise ApiError if a question with so many answers may not have `new` more, of whichever models and columns.

    The caller holds the lock of the question's session, unless nothing is stored of the question yet.
    """
    most = settings.MAX_ANSWERS_PER_QUESTION
    if most and stored + new > most:
        raise ApiError("too_many_answers", max=most)
