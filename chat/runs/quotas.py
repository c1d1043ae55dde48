"""Quotas: how many rows, bytes and chunks a user may keep. The limits are settings, where 0 means no limit.

Rows are counted under a lock on the user's row, so concurrent creations cannot exceed a limit together. Rows that staff
create in the admin or on the command line are counted, but not refused.
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
from chat.models import Agent, Session, StoredBytes
from chat.protocol.answer import LimitUse
from chat.protocol.errors import ApiError
from knowledge.models import File, KnowledgeBase, Project

logger = logging.getLogger(__name__)


class RowQuota(NamedTuple):
    """A quota of rows. code: the error code of a refusal. rows: returns the rows of a user that count."""

    code: str
    setting: str
    rows: Callable[[User], QuerySet[Any]]

    @property
    def max(self) -> int:
        """The limit; 0 means none."""
        limit: int = getattr(settings, self.setting)
        return limit

    def use(self, user: User) -> int:
        return self.rows(user).count()

    def check(self, user: User, new: int = 1) -> None:
        """Raise ApiError if the user has no room for `new` more rows now."""
        if self.max and self.use(user) + new > self.max:
            raise ApiError(self.code, max=self.max)

    @contextmanager
    def room_for_one(self, user: User) -> Iterator[None]:
        """Open a transaction in which the user may create one more row. Raises ApiError if there is no room.

        Inside another transaction the user's lock lasts until that one ends; lock sessions before it.
        """
        with transaction.atomic():
            lock_user(user)
            self.check(user)
            yield


def limit_uses(user: User) -> Iterator[LimitUse]:
    """Yield all quotas of a user with their use; the open sockets only while Redis is reachable."""
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
    # The latest stored sum, since clients ask often.
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
PROMPTS: Final = RowQuota("too_many_prompts", "MAX_PROMPTS_PER_USER", lambda user: user.saved_prompts.all())
PROJECTS: Final = RowQuota("too_many_projects", "MAX_PROJECTS_PER_USER", Project.objects.visible_to)
TOKENS: Final = RowQuota(
    "too_many_tokens", "MAX_API_TOKENS_PER_USER", lambda user: AuthToken.objects.filter(user=user)
)
FILES: Final = RowQuota("too_many_files", "MAX_FILES_PER_USER", File.objects.visible_to)
# Files that wait to be read or are being read, documents included.
WAITING_FILES: Final = RowQuota(
    "too_many_waiting_files",
    "MAX_WAITING_FILES_PER_USER",
    lambda user: File.objects.not_ended().filter(owner=user),
)
# The contents of a base count for its owner, whichever member adds them.
KNOWLEDGE_BASES: Final = RowQuota(
    "too_many_knowledge_bases",
    "MAX_KNOWLEDGE_BASES_PER_USER",
    lambda user: KnowledgeBase.objects.filter(owner=user, members__user=user),
)


def lock_user(user: User) -> None:
    """Lock the user until the transaction ends. Inserts of rows that refer to the user do not wait for the lock."""
    list(User.objects.select_for_update(no_key=True).filter(pk=user.pk).values_list("pk"))


def count_chunks(user_id: int) -> int:
    """Return the number of searchable chunks of the user's files and of documents in the user's knowledge bases."""
    return _sum_chunks(File.objects.filter(owner=user_id))


def check_chunks(user_id: int) -> None:
    """Raise ApiError if the user's searchable chunks have reached the limit.
    The chunks of a new text are not known yet."""
    most = settings.MAX_CHUNKS_PER_USER
    if most and count_chunks(user_id) >= most:
        raise ApiError("too_many_chunks", max=most)


def has_room_for_chunks(file: File) -> bool:
    """Return whether a file's text may be searchable: there is room for at least one chunk beside those of other files.
    The text may exceed that room, so that no text has to be counted twice."""
    most = settings.MAX_CHUNKS_PER_USER
    return not most or _sum_chunks(File.objects.filter(owner=file.owner_id).exclude(pk=file.pk)) < most


@contextmanager
def room_for_text(file: File, text: str) -> Iterator[bool]:
    """Open a transaction for storing an extracted text, and yield whether the user's storage has room for it.

    A small file may contain a long text. Transactions for texts of one user wait for each other.
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
    """Return whether the user has room for the base of another owner with its contents.
    The caller has locked the user."""
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
    """Raise ApiError if the user has no room for this many more bytes.

    summed: the sum in StoredBytes, or a lower bound of the bytes in use. Only if it exceeds the limit are the bytes
    summed again, since chats may have been deleted meanwhile.
    """
    most = settings.MAX_STORED_BYTES_PER_USER
    if most and summed + new_bytes > most and StoredBytes.objects.sum_of(user_id) + new_bytes > most:
        raise ApiError("storage_full", max=most)


def check_answers(stored: int, new: int) -> None:
    """Raise ApiError if a question with `stored` answers may not have `new` more, in any columns.

    The caller holds the lock of the question's session, unless the question is not stored yet.
    """
    most = settings.MAX_ANSWERS_PER_QUESTION
    if most and stored + new > most:
        raise ApiError("too_many_answers", max=most)
