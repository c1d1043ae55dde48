"""Serializers that describe knowledge bases, their members and documents in the OpenAPI document."""

from rest_framework import serializers

from knowledge.models import FileKind, MemberRole
from web.rest.file_schemas import FILE_STATUSES, FileErrorAnswer, IndexingAnswer
from web.rest.response_schemas import ResponseSchema

MEMBER_ROLES = MemberRole.values
_WITHHELD = "Empty or null for a restricted member."


class DocumentCountsAnswer(ResponseSchema):
    processing = serializers.IntegerField()
    ready = serializers.IntegerField()
    failed = serializers.IntegerField()


class KnowledgeBaseAnswer(ResponseSchema):
    id = serializers.UUIDField()
    name = serializers.CharField()
    summary = serializers.CharField(help_text=_WITHHELD)
    topics = serializers.ListField(child=serializers.CharField(), help_text=_WITHHELD)
    routing_hint = serializers.CharField()
    routing_keywords = serializers.ListField(child=serializers.CharField())
    role = serializers.ChoiceField(choices=MEMBER_ROLES, help_text="Of the user who asks.")
    member = serializers.UUIDField(help_text="The id of the user's own membership, by which the user leaves.")
    accepted = serializers.BooleanField(
        help_text="By the user; `false`: an invitation, of which no event tells, accepted by `accept/` or by choosing the base."
    )
    accepted_ownership = serializers.BooleanField(
        help_text="Whether the base may count for the user: only of an owner who created it or accepted that."
    )
    owner = serializers.CharField(help_text="The user for whom the documents count.")
    documents = DocumentCountsAnswer(allow_null=True, help_text=_WITHHELD)
    indexing = IndexingAnswer(allow_null=True, help_text=_WITHHELD)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField(
        help_text="Of anything; for a restricted member, of the fields that are shown."
    )


class MemberAnswer(ResponseSchema):
    id = serializers.UUIDField()
    user = serializers.CharField(help_text="The name.")
    role = serializers.ChoiceField(choices=MEMBER_ROLES)
    accepted = serializers.BooleanField(help_text="`false`: an invitation.")
    accepted_ownership = serializers.BooleanField(help_text="Whether the base may count for this owner.")


class DocumentAnswer(ResponseSchema):
    id = serializers.UUIDField()
    title = serializers.CharField(
        help_text="As `url`, `content_type` and `size`, of the version that is found, if there is one."
    )
    url = serializers.CharField(allow_null=True, help_text="Where it was read; null if it was given.")
    status = serializers.ChoiceField(
        choices=FILE_STATUSES,
        help_text="`ready`: its text and its vectors are found. Until then a search finds the version that was ready before.",
    )
    error = FileErrorAnswer(allow_null=True, help_text="Why it failed.")
    kind = serializers.ChoiceField(choices=FileKind.values)
    content_type = serializers.CharField()
    size = serializers.IntegerField(help_text="Bytes of the content.")
    token_count = serializers.IntegerField(help_text="Of the extracted text.")
    unread_pages = serializers.IntegerField(help_text="Those that are pictures without text.")
    created_at = serializers.DateTimeField()


class DocumentPage(ResponseSchema):
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = DocumentAnswer(many=True)


class FoundAnswer(ResponseSchema):
    document_id = serializers.UUIDField()
    title = serializers.CharField()
    text = serializers.CharField()
    start = serializers.IntegerField(help_text="In the document's text, in characters.")
    score = serializers.FloatField(help_text="Of this search alone, the higher the better.")
    lexical_rank = serializers.IntegerField(required=False, help_text="By words, from 1.")
    vector_rank = serializers.IntegerField(required=False, help_text="By meaning, from 1.")
