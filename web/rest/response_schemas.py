"""Serializers that describe the API's responses in the OpenAPI document. Class names are its component names.

The responses themselves are built in chat/presenters/; a test compares the two.
"""

from typing import Any

from rest_framework import serializers

from chat.models.agent import ContextLayout
from chat.models.session import WhileAnswering
from chat.models.tool_call import ToolCallStatus
from chat.protocol.states import Status

STATUSES = [str(status) for status in Status]
CALL_STATUSES = ToolCallStatus.values
ROLES = ["root", "user", "assistant", "summary"]


class ResponseSchema(serializers.Serializer[Any]):
    """Describes a response; never used to validate or serialize one."""


class ModelAnswer(ResponseSchema):
    name = serializers.CharField()
    context_window = serializers.IntegerField()
    supports_vision = serializers.BooleanField()
    supports_tools = serializers.BooleanField()
    is_default = serializers.BooleanField()
    is_demo = serializers.BooleanField()


class AgentAnswer(ResponseSchema):
    id = serializers.UUIDField()
    name = serializers.CharField()
    prompt = serializers.CharField()
    replaces_system_prompt = serializers.BooleanField()
    reminder = serializers.CharField()
    tools = serializers.ListField(child=serializers.CharField())
    models = serializers.ListField(child=serializers.CharField())
    knowledge_bases = serializers.ListField(child=serializers.UUIDField())
    context_layout = serializers.ChoiceField(choices=ContextLayout.values)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class SessionAnswer(ResponseSchema):
    id = serializers.UUIDField()
    title = serializers.CharField()
    agent = serializers.UUIDField(allow_null=True)
    project = serializers.UUIDField(allow_null=True)
    knowledge_bases = serializers.ListField(child=serializers.UUIDField())
    while_answering = serializers.ChoiceField(choices=WhileAnswering.values)
    root = serializers.UUIDField()  # type: ignore[assignment]
    leaf = serializers.UUIDField()
    n = serializers.IntegerField()
    is_answering = serializers.BooleanField()
    is_unread = serializers.BooleanField()
    match = serializers.CharField(
        required=False, allow_null=True, help_text="The text around the match of a search."
    )
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class SessionPage(ResponseSchema):
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = SessionAnswer(many=True)


class RunErrorAnswer(ResponseSchema):
    code = serializers.CharField()
    message = serializers.CharField()
    retryable = serializers.BooleanField()


class CursorAnswer(ResponseSchema):
    attempt = serializers.IntegerField()
    seq = serializers.IntegerField()


class FeedbackAnswer(ResponseSchema):
    is_positive = serializers.BooleanField(allow_null=True)
    text = serializers.CharField()


class ToolCallAnswer(ResponseSchema):
    id = serializers.UUIDField()
    tool_call_id = serializers.CharField()
    name = serializers.CharField()
    arguments = serializers.DictField()
    response = serializers.CharField()
    status = serializers.ChoiceField(choices=CALL_STATUSES)
    turn_number = serializers.IntegerField()
    tab_index = serializers.IntegerField()
    documents = serializers.ListField(child=serializers.DictField(), required=False)
    text_before = serializers.CharField(required=False)
    reasoning = serializers.CharField(required=False)
    reasoning_ms = serializers.IntegerField(required=False)
    duration_ms = serializers.IntegerField(required=False)
    children = serializers.ListField(child=serializers.DictField())


class MessageFileAnswer(ResponseSchema):
    id = serializers.UUIDField()
    name = serializers.CharField()
    kind = serializers.CharField()
    token_count = serializers.IntegerField()


class CitationAnswer(ResponseSchema):
    number = serializers.IntegerField()
    document_id = serializers.CharField()
    title = serializers.CharField()
    url = serializers.CharField(required=False)


class MessageAnswer(ResponseSchema):
    id = serializers.UUIDField()
    parent = serializers.UUIDField(allow_null=True)  # type: ignore[assignment]
    role = serializers.ChoiceField(choices=ROLES)
    text = serializers.CharField()
    reasoning = serializers.CharField(required=False)
    reasoning_ms = serializers.IntegerField(required=False)
    status = serializers.ChoiceField(choices=STATUSES)
    error = RunErrorAnswer(required=False)
    model = serializers.CharField(required=False)
    run = serializers.UUIDField(required=False)
    cursor = CursorAnswer(required=False)
    sent_at = serializers.DateTimeField()
    token_count = serializers.IntegerField()
    files = MessageFileAnswer(many=True)
    tool_calls = ToolCallAnswer(many=True)
    citations = CitationAnswer(many=True)
    siblings = serializers.ListField(child=serializers.UUIDField())
    feedback = FeedbackAnswer(required=False)


class NodeAnswer(ResponseSchema):
    id = serializers.UUIDField()
    parent = serializers.UUIDField(allow_null=True)  # type: ignore[assignment]
    role = serializers.ChoiceField(choices=ROLES)
    status = serializers.ChoiceField(choices=STATUSES)
    latest_child = serializers.UUIDField(allow_null=True)
    model = serializers.CharField(allow_null=True)
    sent_at = serializers.DateTimeField()
    last_summarized_message = serializers.UUIDField(required=False, allow_null=True)


class StartedRunAnswer(ResponseSchema):
    id = serializers.UUIDField()
    message = serializers.UUIDField()
    model = serializers.CharField()
    model_index = serializers.IntegerField()


class StartedAnswer(ResponseSchema):
    turn = serializers.UUIDField()
    user_message = serializers.UUIDField()
    runs = StartedRunAnswer(many=True)


class UsageAnswer(ResponseSchema):
    prompt_tokens = serializers.IntegerField(allow_null=True)
    completion_tokens = serializers.IntegerField(allow_null=True)
    cached_tokens = serializers.IntegerField(allow_null=True)
    reasoning_tokens = serializers.IntegerField(allow_null=True)


class UsedAnswer(ResponseSchema):
    day = serializers.DateField()
    model = serializers.CharField()
    runs = serializers.IntegerField()
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    cached_tokens = serializers.IntegerField()
    reasoning_tokens = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)


class RunAnswer(ResponseSchema):
    id = serializers.UUIDField()
    turn = serializers.UUIDField()
    message = serializers.UUIDField()
    model = serializers.CharField()
    model_index = serializers.IntegerField()
    status = serializers.ChoiceField(choices=STATUSES)
    attempt = serializers.IntegerField()
    failures = serializers.IntegerField()
    owner = serializers.CharField(allow_null=True)
    error = RunErrorAnswer(required=False)
    usage = UsageAnswer()
    cost = serializers.FloatField(allow_null=True)
    time_to_first_token_ms = serializers.IntegerField(allow_null=True)
    reasoning_ms = serializers.IntegerField(allow_null=True)
    cycles = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    queued_at = serializers.DateTimeField()
    claimed_at = serializers.DateTimeField(allow_null=True)
    beat_at = serializers.DateTimeField(allow_null=True)
    lease_until = serializers.DateTimeField(allow_null=True)
    deadline = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    announced_at = serializers.DateTimeField(allow_null=True)


class PacketsAnswer(ResponseSchema):
    attempt = serializers.IntegerField()
    complete = serializers.BooleanField()
    packets = serializers.ListField(child=serializers.DictField())


class CompressionAskedAnswer(ResponseSchema):
    status = serializers.ChoiceField(choices=["queued", "nothing_to_compress"])


class SummaryAnswer(ResponseSchema):
    id = serializers.UUIDField()
    parent = serializers.UUIDField()  # type: ignore[assignment]
    last_summarized_message = serializers.UUIDField()
    text = serializers.CharField()
    token_count = serializers.IntegerField()
    saved_tokens = serializers.IntegerField(allow_null=True)
    sent_at = serializers.DateTimeField()


class CompressionAnswer(ResponseSchema):
    summary = SummaryAnswer(allow_null=True)
    is_under_way = serializers.BooleanField()


class ShareAnswer(ResponseSchema):
    id = serializers.UUIDField()
    session = serializers.UUIDField()
    leaf = serializers.UUIDField()
    url = serializers.CharField(allow_null=True)
    is_current = serializers.BooleanField()
    shows_details = serializers.BooleanField()
    created_at = serializers.DateTimeField()


class StatusAnswer(ResponseSchema):
    status = serializers.ChoiceField(choices=STATUSES)
