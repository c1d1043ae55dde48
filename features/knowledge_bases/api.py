"""Routes of knowledge bases, their members and the search in one. The role of a member decides what is allowed.

A restricted member sees nothing of what a base holds.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final
from uuid import UUID

from django.db.models import Count, Sum
from django.urls import path
from msgspec import UNSET, Meta, UnsetType
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.events import knowledge_bases as events
from chat.presenters.files import IndexingAnswer
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, Moment, choice, doc
from chat.protocol.body import DISTINCT, INVISIBLE, Body, UserName, Visible, matches_none, patched, rule
from chat.protocol.errors import ApiError
from chat.runs import quotas
from chat.sweeper.base_deletion import delete_base
from features.knowledge_bases import members
from features.knowledge_bases.document_api import (
    DocumentContentView,
    DocumentsView,
    DocumentTextView,
    DocumentView,
)
from features.knowledge_bases.members import get_base, get_owned_base, get_readable_base
from knowledge.bases import REFUSED_PATTERN, is_routing_hint
from knowledge.models import Document, FileStatus, KnowledgeBase, KnowledgeBaseMember, MemberRole
from knowledge.models.knowledge_base import (
    MAX_HINT_CHARACTERS,
    MAX_KEYWORD_CHARACTERS,
    MAX_KEYWORDS,
    MAX_TOPIC_CHARACTERS,
    MAX_TOPICS,
    READING,
)
from knowledge.models.sql.chunk_search import FoundChunk
from knowledge.search.hybrid_search import search_files
from knowledge.search.indexing import chunks_without_vector
from web.accounts import limit_unknown_names
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import TEXT, documented, query, whole_number
from web.rest.pagination import newest_rows_parameters, page_size, read_newest_rows
from web.rest.request_slots import EXPENSIVE

MAX_SUMMARY_CHARACTERS: Final = 10_000
MAX_QUERY_CHARACTERS: Final = 2_000
MAX_FOUND: Final = 50
DEFAULT_FOUND: Final = 10


def _check_hint(text: str) -> str:
    if not is_routing_hint(text):
        raise ApiError("invalid_value")
    return text


# For restricted members, without numbers, quotations and headings (knowledge/bases.py).
_Keyword = Annotated[
    Visible,
    Meta(min_length=1, max_length=MAX_KEYWORD_CHARACTERS),
    rule(_check_hint, matches_none(REFUSED_PATTERN, INVISIBLE)),
]


class KnowledgeBaseBody(Body):
    """Omitted fields get their default when a base is created or replaced, and stay when it is updated."""

    name: Annotated[Visible, Meta(max_length=200)]
    summary: Annotated[str, Meta(max_length=MAX_SUMMARY_CHARACTERS)] = ""
    topics: Annotated[
        list[Annotated[Visible, Meta(max_length=MAX_TOPIC_CHARACTERS)]], Meta(max_length=MAX_TOPICS), DISTINCT
    ] = []
    routing_hint: Annotated[
        str,
        Meta(max_length=MAX_HINT_CHARACTERS),
        rule(_check_hint, matches_none(REFUSED_PATTERN)),
        doc(
            "All that restricted members and their models learn of the content, with the keywords. Without numbers, "
            "quotation marks and headings."
        ),
    ] = ""
    routing_keywords: Annotated[list[_Keyword], Meta(max_length=MAX_KEYWORDS), DISTINCT] = []


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


class KnowledgeBasesView(StrictAPIView):
    @documented(
        "knowledge_bases_list",
        answer=list[KnowledgeBaseAnswer],
        parameters=newest_rows_parameters("knowledge bases"),
    )
    def get(self, request: Request) -> Response:
        """List the knowledge bases that the user is a member of, the latest updated first, at most 200."""
        own = KnowledgeBase.objects.with_role_of(current_user(request)).select_related("owner")
        columns = ("summary", "topics", "routing_hint", "routing_keywords")
        rows, headers = read_newest_rows(request, own, "knowledge_base", columns)
        return Response(_present_bases(rows), headers=headers)

    @documented("knowledge_bases_create", body=KnowledgeBaseBody, answer=KnowledgeBaseAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """Create a knowledge base, of which the user is the owner."""
        owner, fields = current_user(request), self.parse(KnowledgeBaseBody).members()
        with quotas.KNOWLEDGE_BASES.room_for_one(owner):
            base = KnowledgeBase.objects.start(owner, **fields)
        events.publish_changed(base.pk)
        return Response(_present(base), status.HTTP_201_CREATED)


class KnowledgeBaseView(StrictAPIView):
    @documented("knowledge_bases_read", answer=KnowledgeBaseAnswer)
    def get(self, request: Request, knowledge_base: str) -> Response:
        """Read a knowledge base; a restricted member reads its name and its hints."""
        return Response(_present(get_base(request, knowledge_base)))

    @documented("knowledge_bases_replace", body=KnowledgeBaseBody, answer=KnowledgeBaseAnswer)
    def put(self, request: Request, knowledge_base: str) -> Response:
        """Replace a knowledge base; omitted fields get their default. Only for owners."""
        base = get_owned_base(request, knowledge_base)
        return self._change(base, self.parse(KnowledgeBaseBody).members())

    @documented("knowledge_bases_update", body=patched(KnowledgeBaseBody), answer=KnowledgeBaseAnswer)
    def patch(self, request: Request, knowledge_base: str) -> Response:
        """Update a knowledge base; omitted fields stay as they are. Only for owners."""
        base = get_owned_base(request, knowledge_base)
        return self._change(base, self.parse(patched(KnowledgeBaseBody)).members())

    @documented("knowledge_bases_delete", statuses=(204,))
    def delete(self, request: Request, knowledge_base: str) -> Response:
        """Delete a knowledge base with its documents, for all its members. Only for owners."""
        delete_base(get_owned_base(request, knowledge_base), current_user(request))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _change(self, base: KnowledgeBase, body: dict[str, Any]) -> Response:
        before = base.outline_updated_at
        if not base.change(**body):
            raise ApiError("knowledge_base_not_found")
        if base.outline_updated_at == before:
            events.publish_content_changed(base.pk)
        else:
            events.publish_changed(base.pk)
        return Response(_present(base))


class AcceptBody(Body):
    ownership: Annotated[
        bool, doc("Of an owner: the base may count for the user, when the owner leaves that it counts for.")
    ] = False


class AcceptView(StrictAPIView):
    @documented("knowledge_bases_accept", body=AcceptBody, answer=KnowledgeBaseAnswer)
    def post(self, request: Request, knowledge_base: str) -> Response:
        """Accept a membership that somebody else created. Idempotent. To decline it, delete the own membership."""
        base, with_ownership = get_base(request, knowledge_base), self.parse(AcceptBody).ownership
        members.accept_base(base, current_user(request), with_ownership=with_ownership)
        return Response(_present(get_base(request, knowledge_base)))


class KnowledgeBaseSearchView(StrictAPIView):
    slots = EXPENSIVE

    @documented(
        "knowledge_bases_search",
        answer=list[FoundAnswer],
        parameters=[
            query("q", {**TEXT, "maxLength": MAX_QUERY_CHARACTERS}, "What to find; without it, nothing is."),
            query("limit", whole_number(1, MAX_FOUND), "At most so many passages."),
        ],
    )
    def get(self, request: Request, knowledge_base: str) -> Response:
        """Search the documents by words and by meaning. Returns passages, best first."""
        base = get_readable_base(request, knowledge_base)
        text = request.query_params.get("q", "")
        if len(text) > MAX_QUERY_CHARACTERS:
            raise ApiError("invalid_value", field="q")
        limit = page_size(request.query_params, DEFAULT_FOUND, MAX_FOUND) or DEFAULT_FOUND
        documents = Document.objects.readable_by(current_user(request)).filter(knowledge_base=base.pk)
        return Response([_present_found(chunk) for chunk in search_files(documents, text, limit)])


_Role = Annotated[str, choice(MemberRole)]


class MemberBody(Body):
    user: Annotated[UserName, doc("The name of a user.")]
    role: _Role


class RoleBody(Body):
    role: _Role


class MembersView(StrictAPIView):
    @documented("members_list", answer=list[MemberAnswer])
    def get(self, request: Request, knowledge_base: str) -> Response:
        """List the members and their roles. Only for members who may read documents."""
        base = get_base(request, knowledge_base)
        if base.role not in READING:
            raise ApiError("not_allowed")
        return Response([_present_member(row) for row in base.members.select_related("user")])

    @documented("members_create", body=MemberBody, answer=MemberAnswer, statuses=(201,))
    def post(self, request: Request, knowledge_base: str) -> Response:
        """Make a user a member. Only for owners. After many unknown names, more are refused for some time (429)."""
        base = get_owned_base(request, knowledge_base)
        body, user = self.parse(MemberBody), current_user(request)
        with limit_unknown_names(user):
            added = members.add_member(base, user, body.user, MemberRole(body.role))
        return Response(_present_member(added), status.HTTP_201_CREATED)


class MemberView(StrictAPIView):
    @documented("members_update", body=patched(RoleBody), answer=MemberAnswer)
    def patch(self, request: Request, knowledge_base: str, member: str) -> Response:
        """Change the role of a member. Only for owners. The last owner stays an owner."""
        base = get_owned_base(request, knowledge_base)
        row = _get_member(base, member)
        role = MemberRole(self.parse(patched(RoleBody)).members().get("role", row.role))
        return Response(_present_member(members.change_role(base, current_user(request), row.pk, role)))

    @documented("members_delete", statuses=(204,))
    def delete(self, request: Request, knowledge_base: str, member: str) -> Response:
        """Remove a member. Owners may remove anybody, others only themselves. The last owner cannot be removed."""
        base, user = get_base(request, knowledge_base), current_user(request)
        if base.role != MemberRole.OWNER and member.lower() != str(base.member):
            raise ApiError("not_allowed")
        members.remove_member(base, user, _get_member(base, member).pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _get_member(base: KnowledgeBase, pk: str) -> KnowledgeBaseMember:
    return get_own_row(base.members.all(), pk, "member")


def _present_bases(bases: Sequence[KnowledgeBase]) -> list[JSONObject]:
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


def _present_member(member: KnowledgeBaseMember) -> JSONObject:
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
    for base, state, number, stored in rows.annotate(Count("pk"), Sum("chunk_count")):
        counts[base][state] = number
        chunks[base] += stored
    without = chunks_without_vector(documents).order_by().values_list("file__knowledge_base", "file__status")
    waiting: defaultdict[UUID, int] = defaultdict(int)
    for base, state, number, files in without.annotate(Count("pk"), Count("file", distinct=True)):
        waiting[base] += number
        if state == FileStatus.READY:
            counts[base][FileStatus.READY] -= files
            counts[base][FileStatus.PROCESSING] += files
    return {
        pk: {
            "documents": DocumentCountsAnswer(**counts[pk]),
            "indexing": IndexingAnswer(chunks=chunks[pk], waiting=waiting[pk]),
        }
        for pk in ids
    }


def _present_found(chunk: FoundChunk) -> JSONObject:
    return FoundAnswer.from_row(
        chunk,
        document_id=chunk.file,
        title=chunk.name,
        lexical_rank=UNSET if chunk.by_words is None else chunk.by_words,
        vector_rank=UNSET if chunk.by_vector is None else chunk.by_vector,
    ).json()


def _present(base: KnowledgeBase) -> dict[str, Any]:
    [presented] = _present_bases([base])
    return presented


urlpatterns = [
    path("knowledge-bases/", KnowledgeBasesView.as_view()),
    path("knowledge-bases/<id:knowledge_base>/", KnowledgeBaseView.as_view()),
    path("knowledge-bases/<id:knowledge_base>/accept/", AcceptView.as_view()),
    path("knowledge-bases/<id:knowledge_base>/search/", KnowledgeBaseSearchView.as_view()),
    path("knowledge-bases/<id:knowledge_base>/documents/", DocumentsView.as_view()),
    path("knowledge-bases/<id:knowledge_base>/documents/<id:document>/", DocumentView.as_view()),
    path("knowledge-bases/<id:knowledge_base>/documents/<id:document>/text/", DocumentTextView.as_view()),
    path(
        "knowledge-bases/<id:knowledge_base>/documents/<id:document>/content/", DocumentContentView.as_view()
    ),
    path("knowledge-bases/<id:knowledge_base>/members/", MembersView.as_view()),
    path("knowledge-bases/<id:knowledge_base>/members/<id:member>/", MemberView.as_view()),
]
