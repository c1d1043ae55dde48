"""OpenAI's websocket mode in the AsyncAPI document."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from chat.protocol.answer import doc
from features.openai.response_body import OpenAIResponseBody
from features.openai.socket_frames import LaneName, ResponseError
from web.socket.asyncapi import Channel


class ResponseCreate(OpenAIResponseBody, kw_only=True, tag_field="type", tag="response.create"):
    """Ask for a response. `input` may be missing with `generate: false`, and from what continues such a request."""

    keywords: ClassVar[Mapping[str, Any]] = {"required": ["type"]}
    background: (
        Annotated[
            bool, Meta(extra_json_schema={"enum": [False]}), doc("What is in the background is posted.")
        ]
        | UnsetType
        | None
    ) = UNSET
    stream_id: (
        Annotated[LaneName, doc("Responses with the same one, or without one, follow each other.")]
        | UnsetType
        | None
    ) = UNSET
    generate: (
        Annotated[bool, doc("false: nothing is asked. What continues the response begins with its input.")]
        | UnsetType
        | None
    ) = UNSET


class ResponseEvent(Struct, kw_only=True):
    """An event, as `POST /v1/responses` streams it. OpenAI's clients have its other members (`ResponseStreamEvent`)."""

    type: Annotated[str, Meta(pattern=r"^response\.")]
    sequence_number: Annotated[int, Meta(ge=0), doc("The same in every stream of the response.")]
    stream_id: Annotated[LaneName | UnsetType, doc("Of the request.")] = UNSET


CHANNEL: Final = Channel(
    Path(__file__).parent / "asyncapi.yaml",
    {"create_response": (ResponseCreate,), "response_events": (ResponseEvent, ResponseError)},
)
