"""Serializers that describe files and projects in the OpenAPI document, as response_schemas.py does for the rest."""

from rest_framework import serializers

from knowledge.models import FileKind, FileStatus
from web.rest.response_schemas import ResponseSchema

FILE_STATUSES = FileStatus.values
FILE_KINDS = FileKind.values


class FileErrorAnswer(ResponseSchema):
    code = serializers.CharField()
    message = serializers.CharField()


class FileAnswer(ResponseSchema):
    id = serializers.UUIDField()
    name = serializers.CharField()
    content_type = serializers.CharField()
    size = serializers.IntegerField(
        help_text="Bytes of the content; of a picture once it is ready, without metadata."
    )
    status = serializers.ChoiceField(choices=FILE_STATUSES)
    token_count = serializers.IntegerField(
        help_text="Of the extracted text, in cl100k_base; of a picture, what models that see it are charged."
    )
    kind = serializers.ChoiceField(choices=FileKind.values)
    project = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    width = serializers.IntegerField(required=False, help_text="Of a picture that is ready, in pixels.")
    height = serializers.IntegerField(required=False)
    has_thumbnail = serializers.BooleanField(required=False, help_text="Of a picture.")
    unread_pages = serializers.IntegerField(
        required=False, help_text="Of a document, if there are any: pages that are pictures without text."
    )
    shown_pages = serializers.IntegerField(
        required=False,
        help_text="Of its unread pages: the first ones, which models that see are shown as pictures.",
    )
    fits = serializers.DictField(
        child=serializers.BooleanField(),
        required=False,
        help_text="Once it is ready: by model, whether it fits into a request, counted in the model's own encoding if that is known.",
    )
    error = FileErrorAnswer(required=False)


class IndexingAnswer(ResponseSchema):
    chunks = serializers.IntegerField(help_text="Those that searches find.")
    waiting = serializers.IntegerField(
        help_text="Those of them that are found by words alone until they have a vector."
    )


class ProjectAnswer(ResponseSchema):
    id = serializers.UUIDField()
    name = serializers.CharField()
    instructions = serializers.CharField()
    files = FileAnswer(many=True)
    token_count = serializers.IntegerField(help_text="Of all texts that can be read.")
    fits = serializers.DictField(
        child=serializers.BooleanField(),
        help_text="By model: whether its requests contain all these texts, in a chat without agent and tools. Otherwise it "
        "searches them, if it has tools. Each run decides again, by what else its request contains.",
    )
    indexing = IndexingAnswer()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
