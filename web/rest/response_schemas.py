"""Serializers that describe the API's responses in the OpenAPI document. Class names are its component names.

The responses themselves are built in chat/presenters/; a test compares the two.
"""

from typing import Any

from rest_framework import serializers

from chat.models.session import WhileAnswering
from chat.models.tool_call import ToolCallStatus
from chat.protocol.states import Status
from chat.protocol.wire import RUN_ERRORS
from chat.transcript.finish import CUT
from chat.transcript.token_usage import ESTIMATED_TOKENS_HELP

STATUSES = [str(status) for status in Status]
CALL_STATUSES = ToolCallStatus.values
_RUN_CODES = ", ".join(f"`{code}`" for code in RUN_ERRORS)
ROLES = ["root", "user", "assistant", "summary"]


class ResponseSchema(serializers.Serializer[Any]):
    """Describes a response; never used to validate or serialize one."""


class ModelAnswer(ResponseSchema):
    name = serializers.CharField()
    context_window = serializers.IntegerField()
    supports_vision = serializers.BooleanField()
    supports_tools = serializers.BooleanField()
    max_output_tokens = serializers.IntegerField(help_text="The largest limit that `options` may have.")
    unsupported_options = serializers.ListField(
        child=serializers.CharField(), help_text="Members of `options` that are refused."
    )
    is_default = serializers.BooleanField(help_text="Of the server.")
    is_own_default = serializers.BooleanField(
        help_text="Of the user: these answer where neither chat nor agent names models."
    )
    is_demo = serializers.BooleanField()


class SessionAnswer(ResponseSchema):
    id = serializers.UUIDField()
    title = serializers.CharField()
    agent = serializers.UUIDField(allow_null=True)
    models = serializers.ListField(child=serializers.CharField())
    project = serializers.UUIDField(allow_null=True)
    knowledge_bases = serializers.ListField(child=serializers.UUIDField())
    tools = serializers.ListField(child=serializers.CharField())
    reminder = serializers.CharField()
    prompt = serializers.CharField()
    options = serializers.DictField(help_text="As they were sent.")
    has_options = serializers.BooleanField(help_text="Whether there are options or a prompt.")
    while_answering = serializers.ChoiceField(choices=WhileAnswering.values)
    root = serializers.UUIDField()  # type: ignore[assignment]
    leaf = serializers.UUIDField()
    n = serializers.IntegerField()
    is_answering = serializers.BooleanField()
    is_unread = serializers.BooleanField()
    is_pinned = serializers.BooleanField()
    is_archived = serializers.BooleanField()
    tags = serializers.ListField(child=serializers.CharField())
    is_temporary = serializers.BooleanField(help_text="Of one that is in no list.")
    match = serializers.CharField(required=False, allow_null=True, help_text="The text around the match.")
    match_message = serializers.UUIDField(
        required=False, allow_null=True, help_text="The first message that matches, on any branch."
    )
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class TrashedSessionAnswer(SessionAnswer):
    deleted_at = serializers.DateTimeField()
    purge_at = serializers.DateTimeField(help_text="When it is deleted for good.")


class TrashPage(ResponseSchema):
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = TrashedSessionAnswer(many=True)


class SessionPage(ResponseSchema):
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = SessionAnswer(many=True)


class RunErrorAnswer(ResponseSchema):
    code = serializers.CharField(help_text=f"{_RUN_CODES}. Of an imported answer, whatever its file says.")
    message = serializers.CharField()
    retryable = serializers.BooleanField()


class UpstreamErrorAnswer(ResponseSchema):
    status = serializers.IntegerField(allow_null=True, help_text="The HTTP status; null without a response.")
    code = serializers.CharField(required=False, help_text="The server's own code or type; for staff.")
    message = serializers.CharField(
        required=False, help_text="What the server said, without secrets; for staff."
    )


class CursorAnswer(ResponseSchema):
    attempt = serializers.IntegerField()
    seq = serializers.IntegerField()


class FeedbackAnswer(ResponseSchema):
    is_positive = serializers.BooleanField(allow_null=True)
    text = serializers.CharField()


class QuestionAnswer(ResponseSchema):
    message = serializers.CharField()
    form = serializers.DictField(
        help_text="A JSON Schema of an object with primitive properties, as elicitation in the Model Context Protocol."
    )


class ToolImageAnswer(ResponseSchema):
    id = serializers.UUIDField(
        help_text="Of a file: `files/{id}/content/` has the image, `files/{id}/thumbnail/` a small copy."
    )
    name = serializers.CharField()
    width = serializers.IntegerField()
    height = serializers.IntegerField()


class SignInQuestionAnswer(ResponseSchema):
    server = serializers.UUIDField(
        allow_null=True,
        help_text="`POST mcp-servers/{server}/sign-in/` begins to sign in to it; null: it was deleted.",
    )
    name = serializers.CharField(help_text="The server's.")


class AddressQuestionAnswer(ResponseSchema):
    message = serializers.CharField()
    url = serializers.CharField(
        help_text="Chosen by the server: show it as it is before it is opened in a browser."
    )


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
    structured = serializers.DictField(
        required=False, help_text="The response as JSON, of tools that have it."
    )
    images = ToolImageAnswer(many=True, required=False, help_text="That the tool returned.")
    text_before = serializers.CharField(required=False)
    reasoning = serializers.CharField(required=False)
    reasoning_ms = serializers.IntegerField(required=False)
    duration_ms = serializers.IntegerField(required=False)
    question = QuestionAnswer(required=False, help_text="What the call asks the user, while it waits.")
    sign_in = SignInQuestionAnswer(
        required=False, help_text="What the user has to sign in to, while the call waits for that."
    )
    address = AddressQuestionAnswer(
        required=False, help_text="Where the user has to go, while the call waits for that."
    )
    children = serializers.ListField(child=serializers.DictField())


class MessageFileAnswer(ResponseSchema):
    id = serializers.UUIDField()
    name = serializers.CharField()
    kind = serializers.CharField()
    token_count = serializers.IntegerField()
    has_thumbnail = serializers.BooleanField(required=False, help_text="Of a picture.")


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
    finish_reason = serializers.ChoiceField(choices=CUT, required=False, help_text="Of incomplete answers.")
    finish_tokens = serializers.IntegerField(
        required=False, help_text="What the model had generated when it was cut at its output limit."
    )
    is_continuable = serializers.BooleanField(
        required=False, help_text="Whether an answer that was cut at its output limit can be continued."
    )
    model = serializers.CharField(required=False)
    agent = serializers.CharField(
        required=False, help_text="What the agent that answered was called then; absent without one."
    )
    run = serializers.UUIDField(required=False)
    edited_from = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="Of an answer whose text the user wrote: that of `model` which was edited; null if it is not there.",
    )
    cursor = CursorAnswer(required=False)
    sent_at = serializers.DateTimeField()
    token_count = serializers.IntegerField()
    additional_context = serializers.CharField(
        required=False, help_text="What a client sent beside this question; absent if nothing."
    )
    knowledge_bases = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        help_text="Picked with this question; absent if none was.",
    )
    earlier_knowledge_bases = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        help_text="Picked with questions above this one, and searched again for it; absent if there are none.",
    )
    files = MessageFileAnswer(many=True)
    tool_calls = ToolCallAnswer(many=True)
    citations = CitationAnswer(many=True)
    siblings = serializers.ListField(child=serializers.UUIDField())
    column = serializers.IntegerField(required=False, help_text="The model_index of the run of an answer.")
    attempts = serializers.ListField(
        child=serializers.UUIDField(), required=False, help_text="The answers in its column, oldest first."
    )
    alongside = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="The newest answers, messages too, in the other columns of its turn.",
    )
    feedback = FeedbackAnswer(required=False)


class NodeAnswer(ResponseSchema):
    id = serializers.UUIDField()
    parent = serializers.UUIDField(allow_null=True)  # type: ignore[assignment]
    role = serializers.ChoiceField(choices=ROLES)
    status = serializers.ChoiceField(choices=STATUSES)
    latest_child = serializers.UUIDField(allow_null=True)
    model = serializers.CharField(allow_null=True)
    edited_from = serializers.UUIDField(required=False, allow_null=True)
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


class UsedAnswer(ResponseSchema):
    day = serializers.DateField()
    model = serializers.CharField()
    purpose = serializers.ChoiceField(
        choices=["answers", "expansions", "safe_summaries", "summaries", "titles"]
    )
    runs = serializers.IntegerField(help_text="Answers; 0 of other purposes.")
    requests = serializers.IntegerField(help_text="To the model.")
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    cached_tokens = serializers.IntegerField()
    reasoning_tokens = serializers.IntegerField()
    estimated_tokens = serializers.IntegerField(help_text=ESTIMATED_TOKENS_HELP)
    cost = serializers.FloatField(allow_null=True)


class StatusAnswer(ResponseSchema):
    status = serializers.ChoiceField(choices=STATUSES)
