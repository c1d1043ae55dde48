"""The routes of OpenAI's API below /v1/, for clients that speak it already."""

from functools import partial
from typing import Annotated, Any, Final

from django.http import HttpResponseBase
from django.urls import path, re_path
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Agent, ModelConfig
from chat.protocol.answer import Answer, doc
from chat.protocol.errors import ApiError
from chat.sessions.deletion import delete_session
from features.openai.authentication import BearerAuthentication, Caller, HasToken
from features.openai.chat import OpenAIChatAnswer, await_chat, start_chat, stream_chat
from features.openai.chat_body import OpenAIChatBody
from features.openai.conversations import (
    OpenAIConversationAnswer,
    OpenAIConversationBody,
    OpenAIConversationChangesBody,
    create_conversation,
    find_conversation,
    present_conversation,
    present_item,
    present_items,
    replace_metadata,
)
from features.openai.errors import ObjectName, OpenAIErrorAnswer
from features.openai.input_tokens import count_input
from features.openai.offered_models import agent_id, find_model, list_models
from features.openai.response_body import OpenAIResponseBody
from features.openai.response_input import present_input
from features.openai.responses import (
    OpenAIResponseAnswer,
    cancel_response,
    delete_response,
    find_answerable,
    find_response,
    present_response,
    start_response,
    with_items,
)
from features.openai.sse import (
    FROM_THE_BEGINNING,
    AwaitedResponse,
    await_response,
    awaiting,
    reading,
    stream_events,
)
from web.rest.api_view import StrictAPIView
from web.rest.openapi import TEXT, documented, query, whole_number
from web.rest.pagination import MAX_COUNT, page_size, parse_count
from web.rest.request_slots import EXPENSIVE
from web.rest.schema_views import not_found


class OpenAIModelAnswer(Answer):
    id: Annotated[str, doc("The model's name, or `agent/` and the lowercase name of an agent.")]
    object: ObjectName
    created: Annotated[int, doc("Seconds since 1970, of an agent; 0 of a model.")]
    owned_by: str


class OpenAIModelsAnswer(Answer):
    object: ObjectName
    data: list[OpenAIModelAnswer]


class OpenAIInputAnswer(Answer):
    object: ObjectName
    data: list[dict[str, Any]]
    first_id: str
    last_id: str
    has_more: bool


class OpenAIInputTokensAnswer(Answer):
    object: ObjectName
    input_tokens: int


class OpenAIDeletedAnswer(Answer):
    id: str
    object: ObjectName
    deleted: bool


_RESPONSE: Final = {"application/json": OpenAIResponseAnswer, "text/event-stream": OpenApiTypes.STR}
MAX_ITEMS_OF_PAGE: Final = 100
_FLAG: Final = {"type": "string", "enum": ["true", "false"]}


class OpenAIView(StrictAPIView):
    authentication_classes = [BearerAuthentication]
    permission_classes = [HasToken]
    error_answer = OpenAIErrorAnswer


class OpenAIModelsView(OpenAIView):
    @documented("openai_models_list", answer=OpenAIModelsAnswer)
    def get(self, request: Request) -> Response:
        """List the models that the user may choose, and the user's agents."""
        models = [_describe(model) for model in list_models(Caller.of(request))]
        return Response(OpenAIModelsAnswer("list", models).json())


class OpenAIModelView(OpenAIView):
    @documented("openai_models_read", answer=OpenAIModelAnswer)
    def get(self, request: Request, model: str) -> Response:
        """Read one of them."""
        return Response(_describe(find_model(Caller.of(request), model)).json())


class OpenAIResponsesView(OpenAIView):
    @documented("openai_responses_create", body=OpenAIResponseBody, answer=_RESPONSE)
    def post(self, request: Request) -> HttpResponseBase:
        """Ask for a response. Without `stream` and `background`, it is answered when it has ended.

        A client that disconnects stops nothing: the response is read later, or stopped, by its id.
        """
        caller = Caller.of(request)
        body = OpenAIResponseBody.parse(with_items(caller, request.data))
        if body.background and not body.stream:
            return Response(present_response(start_response(caller, body)))
        with reading(request) as reader:
            part = start_response(caller, body)
        if body.stream:
            return stream_events(reader, part, FROM_THE_BEGINNING)
        return AwaitedResponse(partial(await_response, reader, part))


class OpenAIInputTokensView(OpenAIView):
    slots = EXPENSIVE

    @documented("openai_input_tokens_count", body=OpenAIResponseBody, answer=OpenAIInputTokensAnswer)
    def post(self, request: Request) -> Response:
        """Count the tokens that a response would read. Nothing is stored; what refuses a response refuses this."""
        caller = Caller.of(request)
        body = OpenAIResponseBody.parse(with_items(caller, request.data))
        return Response(OpenAIInputTokensAnswer("response.input_tokens", count_input(caller, body)).json())


class OpenAIResponseView(OpenAIView):
    slots = EXPENSIVE

    @documented(
        "openai_responses_read",
        answer=_RESPONSE,
        parameters=[
            query("stream", _FLAG, "Answer with its events, and with those to come."),
            query("starting_after", whole_number(0, MAX_COUNT), "Without the events up to this number."),
        ],
    )
    def get(self, request: Request, response_id: str) -> HttpResponseBase:
        """Read a response. The output of one in progress is in its stream."""
        part = find_response(Caller.of(request), response_id)
        refusal = ApiError("invalid_value", field="starting_after")
        has_cursor = "starting_after" in request.query_params
        after = parse_count(request.query_params, "starting_after", 0, refusal)
        streams = request.query_params.get("stream", "false")
        if streams not in ("true", "false"):
            raise ApiError("invalid_value", "true or false.", field="stream")
        if streams == "true":
            with reading(request) as reader:
                return stream_events(reader, part, after if has_cursor else FROM_THE_BEGINNING)
        return Response(present_response(part))

    @documented("openai_responses_delete", answer=OpenAIDeletedAnswer)
    def delete(self, request: Request, response_id: str) -> Response:
        """Delete a response, its question and what continues it, into the trash."""
        delete_response(find_response(Caller.of(request), response_id))
        return Response(OpenAIDeletedAnswer(response_id, "response", deleted=True).json())


class OpenAICancellationView(OpenAIView):
    @documented("openai_responses_cancel", answer=OpenAIResponseAnswer)
    def post(self, request: Request, response_id: str) -> Response:
        """Stop a response, or the answer that waits for its approvals. One that has ended stays as it is."""
        part = find_answerable(Caller.of(request), response_id)
        cancel_response(part)
        return Response(present_response(part.load_again()))


class OpenAIInputView(OpenAIView):
    @documented("openai_input_items_list", answer=OpenAIInputAnswer)
    def get(self, request: Request, response_id: str) -> Response:
        """List the input of a response: its question, or what was decided about its calls."""
        return Response(present_input(find_response(Caller.of(request), response_id)))


class OpenAIConversationsView(OpenAIView):
    @documented("openai_conversations_create", body=OpenAIConversationBody, answer=OpenAIConversationAnswer)
    def post(self, request: Request) -> Response:
        """Create a chat, which may begin with what the caller tells. The last question may have no answer yet."""
        caller = Caller.of(request)
        return Response(present_conversation(create_conversation(caller, self.parse(OpenAIConversationBody))))


class OpenAIConversationView(OpenAIView):
    @documented("openai_conversations_read", answer=OpenAIConversationAnswer)
    def get(self, request: Request, conversation_id: str) -> Response:
        """Read a chat of the user, whoever has created it."""
        return Response(present_conversation(find_conversation(Caller.of(request), conversation_id)))

    @documented(
        "openai_conversations_update", body=OpenAIConversationChangesBody, answer=OpenAIConversationAnswer
    )
    def post(self, request: Request, conversation_id: str) -> Response:
        """Replace the metadata."""
        conversation = find_conversation(Caller.of(request), conversation_id)
        body = self.parse(OpenAIConversationChangesBody)
        replace_metadata(conversation, body.metadata)
        return Response(present_conversation(conversation))

    @documented("openai_conversations_delete", answer=OpenAIDeletedAnswer)
    def delete(self, request: Request, conversation_id: str) -> Response:
        """Delete the chat into the trash, which stops its answers."""
        delete_session(find_conversation(Caller.of(request), conversation_id))
        return Response(OpenAIDeletedAnswer(conversation_id, "conversation.deleted", deleted=True).json())


class OpenAIItemsView(OpenAIView):
    slots = EXPENSIVE

    @documented(
        "openai_conversation_items_list",
        answer=OpenAIInputAnswer,
        parameters=[
            query("after", TEXT, "The id of an item: those behind it."),
            query("limit", whole_number(1, MAX_ITEMS_OF_PAGE), "20 without it."),
            query("order", {"type": "string", "enum": ["asc", "desc"]}, "desc without it: the newest first."),
            query("include", {}, "Not used."),
        ],
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """List the items of the current branch: questions, and what was answered, with calls and their outputs."""
        conversation = find_conversation(Caller.of(request), conversation_id)
        order = request.query_params.get("order", "desc")
        if order not in ("asc", "desc"):
            raise ApiError("invalid_value", "asc or desc.", field="order")
        limit = page_size(request.query_params, 20, MAX_ITEMS_OF_PAGE) or 20
        after = request.query_params.get("after")
        return Response(present_items(conversation, after, limit, newest_first=order == "desc"))


class OpenAIItemView(OpenAIView):
    slots = EXPENSIVE

    @documented("openai_conversation_items_read", answer=OpenApiTypes.OBJECT)
    def get(self, request: Request, conversation_id: str, item_id: str) -> Response:
        """Read an item of the current branch."""
        return Response(present_item(find_conversation(Caller.of(request), conversation_id), item_id))


class OpenAIChatView(OpenAIView):
    @documented(
        "openai_chat_create",
        body=OpenAIChatBody,
        answer={"application/json": OpenAIChatAnswer, "text/event-stream": OpenApiTypes.STR},
    )
    def post(self, request: Request) -> HttpResponseBase:
        """Answer the last of the messages. A client that disconnects stops the answer, unless it is stored."""
        body = self.parse(OpenAIChatBody)
        with reading(request) as reader:
            run = start_chat(Caller.of(request), body)
        answer = stream_chat if body.stream else await_chat
        return answer(reader, run, body)


def _describe(model: ModelConfig | Agent) -> OpenAIModelAnswer:
    if isinstance(model, ModelConfig):
        return OpenAIModelAnswer(model.name, "model", 0, "turnwire")
    return OpenAIModelAnswer(agent_id(model), "model", int(model.created_at.timestamp()), "user")


urlpatterns = [
    path("models", OpenAIModelsView.as_view()),
    path("models/<path:model>", OpenAIModelView.as_view()),
    path("chat/completions", awaiting(OpenAIChatView.as_view())),
    path("responses", awaiting(OpenAIResponsesView.as_view())),
    path("responses/input_tokens", OpenAIInputTokensView.as_view()),
    path("responses/<str:response_id>", OpenAIResponseView.as_view()),
    path("responses/<str:response_id>/cancel", OpenAICancellationView.as_view()),
    path("responses/<str:response_id>/input_items", OpenAIInputView.as_view()),
    path("conversations", OpenAIConversationsView.as_view()),
    path("conversations/<str:conversation_id>", OpenAIConversationView.as_view()),
    path("conversations/<str:conversation_id>/items", OpenAIItemsView.as_view()),
    path("conversations/<str:conversation_id>/items/<str:item_id>", OpenAIItemView.as_view()),
    re_path(r"", not_found),
]
