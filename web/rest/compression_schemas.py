"""What clients are answered about compressions and summaries, for the OpenAPI document."""

from rest_framework import serializers

from web.rest.response_schemas import ResponseSchema


class CompressionAskedAnswer(ResponseSchema):
    status = serializers.ChoiceField(choices=["queued", "nothing_to_compress"])


class SummaryAnswer(ResponseSchema):
    id = serializers.UUIDField()
    parent = serializers.UUIDField()  # type: ignore[assignment]
    last_summarized_message = serializers.UUIDField()
    text = serializers.CharField()
    token_count = serializers.IntegerField()
    saved_tokens = serializers.IntegerField(allow_null=True)
    model = serializers.CharField(allow_null=True)
    sent_at = serializers.DateTimeField()


class CompressionAnswer(ResponseSchema):
    summary = SummaryAnswer(allow_null=True)
    is_under_way = serializers.BooleanField()
