"""Views of knowledge bases, and of the search in one. The role of the member decides what is allowed."""

from typing import Annotated, Any, Final

from msgspec import Meta
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.events import knowledge_bases as events
from chat.knowledge_bases.deletion import delete_base
from chat.knowledge_bases.members import accept_base
from chat.presenters.knowledge_bases import FoundAnswer, KnowledgeBaseAnswer, present_bases, present_found
from chat.protocol.body import Body, patched, rule
from chat.protocol.errors import ApiError
from chat.protocol.member_types import doc
from chat.protocol.members import DISTINCT, INVISIBLE, Visible, matches_none
from chat.runs import quotas
from chat.turns.knowledge_bases import accept_chosen
from knowledge.bases.metadata_block import REFUSED_PATTERN, is_routing_hint
from knowledge.models import Document, KnowledgeBase, MemberRole
from knowledge.models.knowledge_base import (
    EDITING,
    MAX_HINT_CHARACTERS,
    MAX_KEYWORD_CHARACTERS,
    MAX_KEYWORDS,
    MAX_TOPIC_CHARACTERS,
    MAX_TOPICS,
    READING,
)
from knowledge.search.hybrid_search import search_files
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.newest_rows import newest_rows_parameters, read_newest_rows
from web.rest.openapi import TEXT, documented, query, whole_number
from web.rest.pagination import page_size
from web.rest.request_slots import EXPENSIVE

MAX_SUMMARY_CHARACTERS: Final = 10_000
MAX_QUERY_CHARACTERS: Final = 2_000
MAX_FOUND: Final = 50
DEFAULT_FOUND: Final = 10


def _check_hint(text: str) -> str:
    if not is_routing_hint(text):
        raise ApiError("invalid_value")
    return text


# For restricted members, without numbers, quotations and headings (knowledge/bases/metadata_block.py).
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
        return Response(present_bases(rows), headers=headers)

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
        accept_base(base, current_user(request), with_ownership=with_ownership)
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
        return Response([present_found(one) for one in search_files(documents, text, limit)])


def get_base(request: Request, pk: str) -> KnowledgeBase:
    """Return a base that the user is a member of, with the user's role. Raises ApiError."""
    bases = KnowledgeBase.objects.with_role_of(current_user(request)).select_related("owner")
    return get_own_row(bases, pk, "knowledge_base")


def get_owned_base(request: Request, pk: str) -> KnowledgeBase:
    base = get_base(request, pk)
    if base.role != MemberRole.OWNER:
        raise ApiError("not_allowed")
    return _accepted_by_change(request, base)


def get_readable_base(request: Request, pk: str) -> KnowledgeBase:
    """Return a base whose documents the user may read. Raises ApiError; restricted members get `not_found`."""
    base = get_base(request, pk)
    if base.role not in READING:
        raise ApiError("knowledge_base_not_found")
    return base


def get_editable_base(request: Request, pk: str) -> KnowledgeBase:
    """Return a base whose documents the user may change. Raises ApiError."""
    base = get_readable_base(request, pk)
    if base.role not in EDITING:
        raise ApiError("not_allowed")
    return _accepted_by_change(request, base)


def _accepted_by_change(request: Request, base: KnowledgeBase) -> KnowledgeBase:
    """Accept the membership for a member who changes the base."""
    if not base.is_accepted:
        accept_chosen(current_user(request).pk, [base.pk])
        base.is_accepted = True
    return base


def _present(base: KnowledgeBase) -> dict[str, Any]:
    [presented] = present_bases([base])
    return presented
