"""Encodes messages of requests for their rows. Pure."""

from dataclasses import replace
from typing import Any

from msgspec import json

from chat.transcript.entries import Image
from llm_worker.request.model_message import LanguageModelInput, Message, to_api_messages
from llm_worker.stream.sanitiser import clean


def encode_messages(messages: LanguageModelInput) -> str:
    """Encode the messages as JSON that Postgres can store: as they are sent, without the data of pictures."""
    return encode_storable(to_api_messages([_as_kept(message) for message in messages]))


def encode_storable(value: Any) -> str:
    try:
        encoded = json.encode(value).decode()
    except UnicodeEncodeError:
        encoded = "\\u0000"
    # Postgres accepts neither NUL nor lone surrogates, and call arguments are stored as the model wrote them.
    return json.encode(_clean(value)).decode() if "\\u0000" in encoded else encoded


def _as_kept(message: Message) -> Message:
    """Remove the data of pictures, and members that only the server that sent them may read."""
    message = replace(message, members={}) if message.members else message
    return replace(message, images=tuple(map(_left_out, message.images))) if message.images else message


def _left_out(image: Image) -> Image:
    return replace(image, url=f"{image.url.partition(',')[0]},({len(image.url)} characters left out)")


def _clean(value: Any) -> Any:
    match value:
        case str():
            return clean(value)
        case list():
            return [_clean(item) for item in value]
        case dict():
            return {key: _clean(item) for key, item in value.items()}
        case _:
            return value
