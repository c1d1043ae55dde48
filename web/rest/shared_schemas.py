"""Answers about public links, to their owner and to visitors, for the OpenAPI document."""

from rest_framework import serializers

from chat.transcript.finish import CUT
from web.rest.response_schemas import CALL_STATUSES, ROLES, ResponseSchema


class SharedCallAnswer(ResponseSchema):
    name = serializers.CharField()
    status = serializers.ChoiceField(choices=CALL_STATUSES)
    arguments = serializers.DictField(help_text="Empty if they are very long.")
    response = serializers.CharField()
    is_shortened = serializers.BooleanField(
        required=False, help_text="Whether there is more of the arguments or the response."
    )


class SharedCitationAnswer(ResponseSchema):
    number = serializers.IntegerField()
    title = serializers.CharField()
    url = serializers.CharField()


class SharedMessageAnswer(ResponseSchema):
    role = serializers.ChoiceField(choices=ROLES)
    text = serializers.CharField()
    sent_at = serializers.DateTimeField()
    files = serializers.ListField(child=serializers.CharField())
    citations = SharedCitationAnswer(many=True)
    model = serializers.CharField(required=False)
    is_edited = serializers.BooleanField(
        required=False, help_text="True: the owner of the chat wrote the text, after that of the model."
    )
    error = serializers.CharField(required=False)
    finish_reason = serializers.ChoiceField(choices=CUT, required=False)
    finish_tokens = serializers.IntegerField(required=False)
    reasoning = serializers.CharField(required=False, help_text="Only if the owner shows details.")
    tool_calls = SharedCallAnswer(many=True, required=False, help_text="Only if the owner shows details.")
    has_more_tool_calls = serializers.BooleanField(
        required=False, help_text="Whether there are more than are listed."
    )


class SharedPageAnswer(ResponseSchema):
    title = serializers.CharField()
    shared_at = serializers.DateTimeField()
    messages = SharedMessageAnswer(many=True)
    next = serializers.IntegerField(allow_null=True, help_text="The number of the next page.")


class ShareAnswer(ResponseSchema):
    id = serializers.UUIDField()
    session = serializers.UUIDField()
    leaf = serializers.UUIDField()
    url = serializers.CharField(allow_null=True)
    is_current = serializers.BooleanField()
    shows_details = serializers.BooleanField()
    created_at = serializers.DateTimeField()
