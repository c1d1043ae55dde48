"""Starts the responses of OpenAI's websocket mode. Synchronous: the consumer calls it in threads.

A connection continues what it has asked for itself, also where that is not stored, and not generated.
"""

import json
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid4

from msgspec import structs

from chat.protocol.errors import ApiError
from features.openai.authentication import Caller
from features.openai.offered_models import find_model
from features.openai.response_body import OpenAIResponseBody
from features.openai.response_parts import RESPONSE_ID, ResponsePart
from features.openai.responses import (
    OpenAIResponseAnswer,
    find_answerable,
    start_response,
    text_format,
    with_items,
)
from features.openai.socket_frames import CreateFrame, join_bodies
from features.openai.sse import Reader, reading_as
from web.socket.authentication import HandshakeCredentials

# In the place of an input that is checked with the response that generates.
_NOT_CHECKED: Final = "-"
# As long as a frame may be.
MAX_WARMED_BYTES: Final = 256 * 1024


@dataclass(eq=False)
class Lane:
    """The responses of one `stream_id`, which follow each other.

    unstored: the run of the latest one, if it is not stored.
    """

    name: str
    waiting: deque[CreateFrame] = field(default_factory=deque)
    is_busy: bool = False
    unstored: UUID | None = None


class Request(NamedTuple):
    """A frame, with what its connection may continue. unstored: runs.  warmed: bodies that were not generated, by id."""

    credentials: HandshakeCredentials
    frame: CreateFrame
    unstored: frozenset[UUID]
    warmed: Mapping[str, bytes]


class StartedResponse(NamedTuple):
    """is_stored: whether any connection may continue it."""

    reader: Reader
    part: ResponsePart
    is_stored: bool


def start(request: Request) -> StartedResponse:
    """Start a response, as POST does. Raises AuthenticationFailed, ApiError; then nothing is stored."""
    caller = Caller.of_token(request.credentials.token, request.unstored)
    body = OpenAIResponseBody.parse(with_items(caller, _without_store(caller, _joined(request))))
    with reading_as(caller.user, request.credentials) as reader:
        part = start_response(caller, body)
    return StartedResponse(reader, part, not part.run.turn.session.is_temporary)


def warm_up(request: Request) -> tuple[dict[str, Any], bytes]:
    """Return a response without output, and the body that what continues it begins with, as JSON. Nothing is stored.
    Raises AuthenticationFailed, ApiError."""
    caller = Caller.of_token(request.credentials.token)
    body = _joined(request)
    data = json.dumps(body, ensure_ascii=False).encode()
    if len(data) > MAX_WARMED_BYTES:
        raise ApiError("body_too_large", limit=MAX_WARMED_BYTES)
    parsed = OpenAIResponseBody.parse({**body, "store": None, "input": _NOT_CHECKED})
    if parsed.model:
        find_model(caller, parsed.model)
    options = parsed.named_options()
    answer = OpenAIResponseAnswer(
        id=f"resp_{uuid4().hex}",
        object="response",
        status="completed",
        created_at=int(time.time()),
        instructions=parsed.instructions or None,
        metadata=parsed.metadata or {},
        model=parsed.model or "",
        output=[],
        parallel_tool_calls=options.get("parallel_tool_calls", True),
        temperature=options.get("temperature", 1.0),
        top_p=options.get("top_p", 1.0),
        max_output_tokens=options.get("max_output_tokens"),
        previous_response_id=parsed.previous_response_id or None,
        conversation={},
        reasoning={"effort": options.get("reasoning_effort"), "summary": None},
        text={"format": text_format(options)},
        background=False,
        store=False,
        tools=[
            {"type": "function", **structs.asdict(function)} for function in parsed.caller_tools.functions
        ],
    )
    return answer.json() | {"conversation": None}, data


def _joined(request: Request) -> dict[str, Any]:
    body = request.frame.body
    previous = body.get("previous_response_id")
    earlier = request.warmed.get(previous) if isinstance(previous, str) else None
    return body if earlier is None else join_bodies(json.loads(earlier), body)


def _without_store(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Return the body without `store: false` where it continues what is not stored either. Raises ApiError."""
    previous = body.get("previous_response_id")
    parsed = RESPONSE_ID.fullmatch(previous) if isinstance(previous, str) else None
    if parsed and UUID(parsed[1]) in caller.unstored:
        if body.get("store") is True:
            raise ApiError("invalid_value", "What it continues is not stored.", field="store")
        return {name: value for name, value in body.items() if name != "store"}
    if isinstance(previous, str) and previous and body.get("store") is False:
        # Its client tells everything again then, which it does not for a wrong `store`.
        find_answerable(caller, previous, field="previous_response_id")
    return body
