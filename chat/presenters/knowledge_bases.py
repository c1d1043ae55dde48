"""Knowledge bases as their members see them. A restricted member sees nothing of what a base holds."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from django.db.models import Count, Sum

from chat.presenters.json_values import JSONObject, isoformat_utc
from knowledge.indexing import chunks_without_vector
from knowledge.models import Document, FileStatus, KnowledgeBase, KnowledgeBaseMember, MemberRole
from knowledge.models.knowledge_base import READING
from knowledge.models.sql.chunk_search import FoundChunk

_WITHHELD: Final[JSONObject] = {"summary": "", "topics": [], "documents": None, "indexing": None}


def present_bases(bases: Sequence[KnowledgeBase]) -> list[JSONObject]:
    """bases: with the `role` of the member who reads this, `member`, and their owners."""
    read = [base.pk for base in bases if base.role in READING]
    progress = _progress(read)
    return [
        {
            "id": str(base.pk),
            "name": base.name,
            "routing_hint": base.routing_hint,
            "routing_keywords": base.routing_keywords,
            "role": base.role,
            "member": str(base.member),
            "accepted": base.is_accepted,
            "accepted_ownership": base.role == MemberRole.OWNER and base.is_ownership_accepted,
            "owner": base.owner.get_username(),
            "created_at": isoformat_utc(base.created_at),
            "updated_at": isoformat_utc(base.updated_at if base.role in READING else base.outline_updated_at),
            **(_content(base, progress) if base.pk in progress else _WITHHELD),
        }
        for base in bases
    ]


def present_member(member: KnowledgeBaseMember) -> JSONObject:
    return {
        "id": str(member.pk),
        "user": member.user.get_username(),
        "role": MemberRole(member.role),
        "accepted": member.is_accepted,
        "accepted_ownership": member.role == MemberRole.OWNER and member.is_ownership_accepted,
    }


def _content(base: KnowledgeBase, progress: Mapping[UUID, JSONObject]) -> JSONObject:
    return {"summary": base.summary, "topics": base.topics, **progress[base.pk]}


def _progress(bases: Iterable[UUID]) -> dict[UUID, JSONObject]:
    """By base, `documents` by status and `indexing`. A document is ready when its text and its vectors are."""
    ids = list(bases)
    documents = Document.objects.filter(knowledge_base__in=ids)
    counts: dict[UUID, dict[str, int]] = {pk: dict.fromkeys(FileStatus.values, 0) for pk in ids}
    chunks: defaultdict[UUID, int] = defaultdict(int)
    rows = documents.order_by().values_list("knowledge_base", "status")
    for base, status, number, stored in rows.annotate(Count("pk"), Sum("chunk_count")):
        counts[base][status] = number
        chunks[base] += stored
    without = chunks_without_vector(documents).order_by().values_list("file__knowledge_base", "file__status")
    waiting: defaultdict[UUID, int] = defaultdict(int)
    for base, status, number, files in without.annotate(Count("pk"), Count("file", distinct=True)):
        waiting[base] += number
        if status == FileStatus.READY:
            counts[base][FileStatus.READY] -= files
            counts[base][FileStatus.PROCESSING] += files
    return {
        pk: {"documents": counts[pk], "indexing": {"chunks": chunks[pk], "waiting": waiting[pk]}}
        for pk in ids
    }


def present_found(found: FoundChunk) -> JSONObject:
    """A passage that a search has found."""
    ranks = {"lexical_rank": found.by_words, "vector_rank": found.by_vector}
    return {
        "document_id": str(found.file),
        "title": found.name,
        "text": found.text,
        "start": found.start,
        "score": found.score,
        **{name: rank for name, rank in ranks.items() if rank is not None},
    }
