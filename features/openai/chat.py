"""Chat completions of OpenAI's API: each is a run in a session of its own that begins with the caller's messages."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any, Final

from django.http import JsonResponse
from msgspec import UNSET, UnsetType, json

from chat.infrastructure.background import with_connection
from chat.models import Agent, Run
from chat.protocol.answer import Answer
from chat.runs.cancellation import stop_run
from features.openai.authentication import Caller
from features.openai.chat_body import OpenAIChatBody
from features.openai.conversation import MAX_TOLD_CHARACTERS
from features.openai.errors import ObjectName, OpenAIErrorAnswer, OpenAIErrorMembers, convert_error
from features.openai.files import stored_files
from features.openai.offered_models import find_model
from features.openai.response_body import named_as_sent
from features.openai.response_parts import ResponsePart
from features.openai.response_stream import TOO_LONG, EncodedEvent
from features.openai.responses import final_response
from features.openai.sse import (
    COMMENT,
    FAILURES,
    AwaitedResponse,
    EventStream,
    Reader,
    await_end,
    read_events,
)
from features.openai.turns import open_session, start_run, store_request
from web.rest.errors import describe as describe_error

# Members of a turn -> what the client called them.
_FIELDS: Final = {
    "text": "messages",
    "files": "messages",
    "file": "messages",
    "models": "model",
    "instructions": "messages",
    "options.max_output_tokens": "max_completion_tokens",
    "options.": "",
}
# Events of a response -> the member of a delta that has their text. OpenAI has none for thoughts; clients read this one.
_DELTAS: Final = {
    "response.output_text.delta": "content",
    "response.reasoning_summary_text.delta": "reasoning_content",
}
# Why the answer is incomplete -> how a completion says so.
_CUT: Final = {"max_output_tokens": "length", "content_filter": "content_filter"}


class OpenAIChatAnswer(Answer, kw_only=True):
    id: str
    object: ObjectName
    created: int
    model: str
    choices: list[dict[str, Any]]
    usage: dict[str, Any] | UnsetType | None = UNSET


def start_chat(caller: Caller, body: OpenAIChatBody) -> Run:
    """Start the turn that answers. Raises ApiError; then nothing is stored."""
    named = find_model(caller, body.model)
    agent = named if isinstance(named, Agent) else None
    with named_as_sent(_FIELDS):
        turn_body = body.turn_body([] if agent else [named.name])
        turn_body.check(MAX_TOLD_CHARACTERS)
        *history, question = body.exchanges
        tools = body.caller_tools
        with stored_files(caller, body.exchanges, body.inline_files):
            session = open_session(
                caller.user, history, model=body.model, is_stored=bool(body.store), agent=agent
            )
            run = start_run(session, turn_body, question, tools, is_new=True)
    return store_request(run, model=body.model)


# Answers


class UnreadRun:
    """A run that is stopped when its request has finished, unless the end of the answer was read, or the chat is stored."""

    def __init__(self, run: Run, body: OpenAIChatBody) -> None:
        self._run = None if body.store else run

    def mark_read(self) -> None:
        self._run = None

    def stop(self) -> None:
        """Stop the run in a thread: this is called on the event loop."""
        if run := self._run:
            asyncio.get_running_loop().run_in_executor(None, with_connection, stop_run, run.pk)


def await_chat(reader: Reader, run: Run, body: OpenAIChatBody) -> AwaitedResponse:
    unread = UnreadRun(run, body)
    return AwaitedResponse(partial(_await_chat, reader, run, body, unread), unread.stop)


async def _await_chat(reader: Reader, run: Run, body: OpenAIChatBody, unread: UnreadRun) -> JsonResponse:
    """Return the completion once it has ended. A client that disconnects stops it, unless it is stored."""
    response = await await_end(reader, ResponsePart(run, is_whole=True))
    unread.mark_read()
    finish = _finish_of(response)
    if finish is None:
        error, status = _error_of(response)
        return JsonResponse(error, status=status)
    calls = [_call_of(item) for item in _calls_in(response)]
    text = _text_of(response)
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if calls:
        message |= {"content": text or None, "tool_calls": calls}
    if reasoning := _reasoning_of(response):
        message["reasoning_content"] = reasoning
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    return JsonResponse(_answer(run, body, "chat.completion", [choice], _usage(response)))


def stream_chat(reader: Reader, run: Run, body: OpenAIChatBody) -> EventStream:
    unread = UnreadRun(run, body)
    return EventStream(_encode_chunks(reader, run, body, unread), reader.slot, unread.stop)


async def _encode_chunks(
    reader: Reader, run: Run, body: OpenAIChatBody, unread: UnreadRun
) -> AsyncGenerator[bytes, None]:
    response: dict[str, Any] = {}
    calls = 0
    try:
        yield _chunk(run, body, {"role": "assistant", "content": "", "refusal": None})
        async with aclosing(read_events(reader, ResponsePart(run, is_whole=True))) as events:
            async for event in events:
                if event is None:
                    yield COMMENT
                elif member := _DELTAS.get(event.type):
                    yield _chunk(run, body, {member: event.members["delta"]})
                elif item := _call_done(event):
                    yield _chunk(run, body, {"tool_calls": [{"index": calls, **_call_of(item)}]})
                    calls += 1
                else:
                    response = final_response(event)
        # `failed` may be the stream's alone: the run goes on if its next attempt contradicts what was shown.
        if response.get("status") not in (None, "in_progress", "failed"):
            unread.mark_read()
        for line in _encode_end(run, body, response):
            yield line
    except FAILURES as error:
        described = describe_error(error)
        yield _line(convert_error(described.status, described.body("")))


def _encode_end(run: Run, body: OpenAIChatBody, response: Mapping[str, Any]) -> list[bytes]:
    finish = _finish_of(response)
    if finish is None:
        return [_line(_error_of(response)[0])]
    lines = [_chunk(run, body, {}, finish)]
    if body.includes_usage:
        lines.append(_line(_answer(run, body, "chat.completion.chunk", [], _usage(response))))
    return [*lines, b"data: [DONE]\n\n"]


def _chunk(run: Run, body: OpenAIChatBody, delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    usage = None if body.includes_usage else UNSET
    return _line(_answer(run, body, "chat.completion.chunk", [choice], usage))


def _answer(
    run: Run, body: OpenAIChatBody, kind: str, choices: list[dict[str, Any]], usage: Any
) -> dict[str, Any]:
    return OpenAIChatAnswer(
        id=f"chatcmpl-{run.pk.hex}",
        object=kind,
        created=int(run.created_at.timestamp()),
        model=body.model,
        choices=choices,
        usage=usage,
    ).json()


def _line(value: Any) -> bytes:
    return b"data: %s\n\n" % json.encode(value)


def _finish_of(response: Mapping[str, Any]) -> str | None:
    """Return the finish_reason; None of an answer that failed or was stopped."""
    if response.get("status") == "incomplete":
        return _CUT[response["incomplete_details"]["reason"]]
    if response.get("status") != "completed":
        return None
    return "tool_calls" if any(_calls_in(response)) else "stop"


def _error_of(response: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the error of an answer without an end, and its status."""
    error = response.get("error") or {"message": "The answer was stopped."}
    code = response.get("metadata", {}).get("turnwire_code", "stopped")
    is_too_long = code in TOO_LONG
    kind = "invalid_request_error" if is_too_long else "server_error"
    param = "messages" if is_too_long else None
    members = OpenAIErrorMembers(error["message"], kind, param, code)
    return OpenAIErrorAnswer(members).json(), 400 if is_too_long else 502


def _text_of(response: Mapping[str, Any]) -> str:
    messages = (item for item in response["output"] if item["type"] == "message")
    return "".join(part["text"] for item in messages for part in item["content"])


def _reasoning_of(response: Mapping[str, Any]) -> str:
    """Return the thoughts of the model."""
    items = (item for item in response["output"] if item["type"] == "reasoning")
    return "".join(part["text"] for item in items for part in item["summary"])


def _calls_in(response: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    return (item for item in response["output"] if item["type"] == "function_call")


def _call_done(event: EncodedEvent) -> dict[str, Any] | None:
    """Return the item of a call that the event completes."""
    if event.type != "response.output_item.done":
        return None
    item: dict[str, Any] = event.members["item"]
    return item if item["type"] == "function_call" else None


def _call_of(item: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": item["name"], "arguments": item["arguments"]}
    return {"id": item["call_id"], "type": "function", "function": function}


def _usage(response: Mapping[str, Any]) -> dict[str, Any] | None:
    usage = response["usage"]
    return usage and {
        "prompt_tokens": usage["input_tokens"],
        "completion_tokens": usage["output_tokens"],
        "total_tokens": usage["total_tokens"],
        "prompt_tokens_details": {"cached_tokens": usage["input_tokens_details"]["cached_tokens"]},
        "completion_tokens_details": {"reasoning_tokens": usage["output_tokens_details"]["reasoning_tokens"]},
    }
