"""Serializers that describe runs and their packets in the OpenAPI document."""

from rest_framework import serializers

from chat.transcript.token_usage import ESTIMATED_TOKENS_HELP
from web.rest.response_schemas import STATUSES, ResponseSchema, RunErrorAnswer, UpstreamErrorAnswer


class UsageAnswer(ResponseSchema):
    prompt_tokens = serializers.IntegerField(allow_null=True)
    completion_tokens = serializers.IntegerField(allow_null=True)
    cached_tokens = serializers.IntegerField(allow_null=True)
    reasoning_tokens = serializers.IntegerField(allow_null=True)
    estimated_tokens = serializers.IntegerField(
        allow_null=True,
        help_text=ESTIMATED_TOKENS_HELP,
    )


class NextCompressionAnswer(ResponseSchema):
    history = serializers.IntegerField(help_text="What counts as history after this answer, it included.")
    limit = serializers.IntegerField(help_text="The history is summarised once it is longer.")
    keeps_from = serializers.UUIDField(
        allow_null=True,
        help_text="If it were summarised now, the first message to stay verbatim; null if there is nothing older.",
    )


class ContextAnswer(ResponseSchema):
    """All counts are tokens, as the model's server counts them or as estimated."""

    window = serializers.IntegerField(help_text="The model's context window.")
    reserved = serializers.IntegerField(help_text="Kept for the answer and for errors of the estimate.")
    system = serializers.IntegerField(help_text="System prompt, agent prompt and reminders.")
    tools = serializers.IntegerField(help_text="Descriptions of the tools.")
    summary = serializers.IntegerField()
    history = serializers.IntegerField(help_text="Messages above the question.")
    files = serializers.IntegerField(help_text="Files, projects, knowledge bases and context of this turn.")
    question = serializers.IntegerField(help_text="The question and the tool calls of this turn.")
    used = serializers.IntegerField(help_text="The sum of the six above.")
    free = serializers.IntegerField()
    compression = NextCompressionAnswer()


class AnsweringAgentAnswer(ResponseSchema):
    id = serializers.UUIDField()
    name = serializers.CharField()


class RunAnswer(ResponseSchema):
    id = serializers.UUIDField()
    turn = serializers.UUIDField()
    request_id = serializers.CharField(help_text="Of the request that started the turn; may be empty.")
    message = serializers.UUIDField()
    model = serializers.CharField()
    model_index = serializers.IntegerField()
    status = serializers.ChoiceField(choices=STATUSES)
    attempt = serializers.IntegerField()
    failures = serializers.IntegerField()
    continuations = serializers.IntegerField(help_text="How often the user let it go on after it was cut.")
    owner = serializers.CharField(allow_null=True)
    error = RunErrorAnswer(required=False)
    upstream_error = UpstreamErrorAnswer(required=False)
    usage = UsageAnswer()
    cost = serializers.FloatField(allow_null=True)
    time_to_first_token_ms = serializers.IntegerField(allow_null=True)
    reasoning_ms = serializers.IntegerField(allow_null=True)
    cycles = serializers.IntegerField()
    options = serializers.DictField(help_text="What held, those of the session included.")
    finish_reason = serializers.CharField(
        allow_blank=True, help_text="Of the last inference, as the model server reported it."
    )
    finish_tokens = serializers.IntegerField(allow_null=True)
    agent = AnsweringAgentAnswer(allow_null=True, help_text="As it was called when it answered.")
    version = serializers.CharField(
        allow_null=True,
        help_text="Digest of the prompts and tools it was answered with; null until text is saved.",
    )
    context = ContextAnswer(  # type: ignore[assignment]
        allow_null=True, help_text="Of its latest request; null if it sent none, or is imported."
    )
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
