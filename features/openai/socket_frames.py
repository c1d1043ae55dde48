"""What is on the wire of OpenAI's websocket mode: frames `response.create`, and events, each a frame. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType, json

from chat.protocol.answer import doc
from chat.protocol.errors import ApiError
from chat.protocol.strict_json import decode
from features.openai.errors import OpenAISocketErrorMembers
from features.openai.response_stream import EncodedEvent
from web.rest.errors import ErrorDescription
from web.socket.outbox import Outbox

# Members of a frame that the body of `POST /v1/responses` has not.
_ENVELOPE: Final = ("type", "stream_id", "generate")
_LANE: Final = re.compile(r"[A-Za-z0-9_.-]{1,256}")
LaneName = Annotated[str, Meta(pattern=f"^{_LANE.pattern}$")]
# Where errors have the shape of OpenAI's API.
_PATH: Final = "/v1/responses"


class ResponseError(Struct, kw_only=True, tag_field="type", tag="error"):
    """A request was refused, or the stream of a response has broken off; the connection stays."""

    status: Annotated[int, doc("As over HTTP; 400 for a response that is not found.")]
    error: OpenAISocketErrorMembers
    sequence_number: Annotated[
        int | UnsetType, doc("Of the event in whose place the error is, if it ends a stream.")
    ] = UNSET
    stream_id: LaneName | UnsetType = UNSET


class CreateFrame(NamedTuple):
    """A request for a response. data: as it came, since values take many times the memory.
    lane: `stream_id`; empty: the one without a name.
    """

    data: bytes
    lane: str
    is_generated: bool

    @property
    def body(self) -> dict[str, Any]:
        """Decode the body, which is not validated."""
        members = decode(self.data)
        return {name: value for name, value in members.items() if name not in _ENVELOPE}


class EventOutbox(Outbox):
    """An outbox whose lines are frames of their own."""

    def pop_frames(self) -> Sequence[str]:
        return self.take().split("\n")


def lane_of(frame: Mapping[str, Any]) -> str:
    """Return the lane that a frame names. Raises ApiError."""
    lane = frame.get("stream_id")
    if lane is None:
        return ""
    if not isinstance(lane, str) or not _LANE.fullmatch(lane):
        message = "1 to 256 letters, digits, underscores, hyphens and periods."
        raise ApiError("invalid_value", message, field="stream_id")
    return lane


def parse_create(frame: Mapping[str, Any], lane: str, text: str) -> CreateFrame:
    """Parse what a decoded frame has beside the body. Raises ApiError."""
    if "type" not in frame:
        raise ApiError("field_required", field="type")
    if frame["type"] != "response.create":
        raise ApiError("unknown_type", "Send response.create.", field="type")
    is_generated = True if frame.get("generate") is None else frame["generate"]
    if not isinstance(is_generated, bool):
        raise ApiError("invalid_type", "Expected a boolean.", field="generate")
    if frame.get("background"):
        raise ApiError("invalid_value", "What is in the background is posted.", field="background")
    return CreateFrame(text.encode(), lane, is_generated)


def join_bodies(before: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body that asks what `body` does, behind the input of one that was not answered. Raises ApiError."""
    named = {name: before[name] for name in ("previous_response_id", "conversation") if name in before}
    conversation = body.get("conversation")
    if conversation is not None and named and conversation != named.get("conversation"):
        raise ApiError("invalid_value", "What it continues names another place.", field="conversation")
    rest = {name: value for name, value in body.items() if name != "previous_response_id"}
    return {**rest, **named, "input": [*_items(before.get("input")), *_items(body.get("input"))]}


def _items(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    # What is no list is refused as an item.
    return value if isinstance(value, list) else [] if value is None else [value]


def encode_event(event: EncodedEvent, lane: str) -> bytes:
    return event.data[:-1] + b',"stream_id":%s}' % json.encode(lane) if lane else event.data


def encode_error(described: ErrorDescription, lane: str, number: int | None = None) -> bytes:
    """Encode an error. number: of the event in whose place it is, if it ends a stream."""
    members = described.body("", _PATH)["error"]
    event = ResponseError(
        # As OpenAI has it, whose clients tell everything again then.
        status=400 if members["code"] == "previous_response_not_found" else described.status,
        error=OpenAISocketErrorMembers(**members, headers=dict(described.headers) or UNSET),
        sequence_number=UNSET if number is None else number,
        stream_id=lane or UNSET,
    )
    return json.encode(event)
