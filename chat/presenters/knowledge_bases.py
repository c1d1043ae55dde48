"""Knowledge bases as their members see them. A restricted member sees nothing of what a base holds."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Annotated, Final
from uuid import UUID

from django.db.models import Count, Sum
from msgspec import UNSET, UnsetType

from chat.presenters.files import IndexingAnswer
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer
from chat.protocol.member_types import Moment, choice, doc
from knowledge.models import Document, FileStatus, KnowledgeBase, KnowledgeBaseMember, MemberRole
from knowledge.models.knowledge_base import READING
from knowledge.models.sql.chunk_search import FoundChunk
from knowledge.search.indexing import chunks_without_vector

_WITHHELD_HELP: Final = "Empty or null for a restricted member."
# Members of a base as a restricted member sees them.
_WITHHELD: Final[JSONObject] = {"summary": "", "topics": [], "documents": None, "indexing": None}


class DocumentCountsAnswer(Answer):
    processing: int
    ready: int
    failed: int


class KnowledgeBaseAnswer(Answer):
    id: UUID
    name: str
    summary: Annotated[str, doc(_WITHHELD_HELP)]
    topics: Annotated[list[str], doc(_WITHHELD_HELP)]
    routing_hint: str
    routing_keywords: list[str]
    role: Annotated[str, choice(MemberRole, "Of the user who asks.")]
    member: Annotated[UUID, doc("The id of the user's own membership, by which the user leaves.")]
    accepted: Annotated[
        bool,
        doc(
            "By the user; `false`: an invitation, of which no event tells, accepted by `accept/` or by choosing the base."
        ),
    ]
    accepted_ownership: Annotated[
        bool,
        doc("Whether the base may count for the user: only of an owner who created it or accepted that."),
    ]
    owner: Annotated[str, doc("The user for whom the documents count.")]
    documents: Annotated[DocumentCountsAnswer | None, doc(_WITHHELD_HELP)]
    indexing: Annotated[IndexingAnswer | None, doc(_WITHHELD_HELP)]
    created_at: Moment
    updated_at: Annotated[Moment, doc("Of anything; for a restricted member, of the fields that are shown.")]


class MemberAnswer(Answer):
    id: UUID
    user: Annotated[str, doc("The name.")]
    role: Annotated[str, choice(MemberRole)]
    accepted: Annotated[bool, doc("`false`: an invitation.")]
    accepted_ownership: Annotated[bool, doc("Whether the base may count for this owner.")]


class FoundAnswer(Answer, kw_only=True):
    document_id: UUID
    title: str
    text: str
    start: Annotated[int, doc("In the document's text, in characters.")]
    score: Annotated[float, doc("Of this search alone, the higher the better.")]
    lexical_rank: Annotated[int | UnsetType, doc("By words, from 1.")] = UNSET
    vector_rank: Annotated[int | UnsetType, doc("By meaning, from 1.")] = UNSET


def present_bases(bases: Sequence[KnowledgeBase]) -> list[JSONObject]:
    """Present bases, which have their owners, and `role` and `member` of the membership of the user who reads this."""
    read = [base.pk for base in bases if base.role in READING]
    progress = _progress(read)
    return [
        KnowledgeBaseAnswer.from_row(
            base,
            accepted=base.is_accepted,
            accepted_ownership=base.role == MemberRole.OWNER and base.is_ownership_accepted,
            owner=base.owner.get_username(),
            updated_at=base.updated_at if base.role in READING else base.outline_updated_at,
            **progress.get(base.pk, _WITHHELD),
        ).json()
        for base in bases
    ]


def present_member(member: KnowledgeBaseMember) -> JSONObject:
    return MemberAnswer.from_row(
        member,
        user=member.user.get_username(),
        accepted=member.is_accepted,
        accepted_ownership=member.role == MemberRole.OWNER and member.is_ownership_accepted,
    ).json()


def _progress(bases: Iterable[UUID]) -> dict[UUID, JSONObject]:
    """Return `documents` by status and `indexing`, by base. A document is ready when its text and its vectors are."""
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
        pk: {
            "documents": DocumentCountsAnswer(**counts[pk]),
            "indexing": IndexingAnswer(chunks=chunks[pk], waiting=waiting[pk]),
        }
        for pk in ids
    }


def present_found(found: FoundChunk) -> JSONObject:
    """Present a passage that a search has found."""
    return FoundAnswer.from_row(
        found,
        document_id=found.file,
        title=found.name,
        lexical_rank=UNSET if found.by_words is None else found.by_words,
        vector_rank=UNSET if found.by_vector is None else found.by_vector,
    ).json()
