"""What answers of OpenAI's API have in common, and its errors: `{error: {message, type, param, code}}`. Pure."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Final

from msgspec import UNSET, UnsetType

from chat.protocol.answer import Answer, doc
from chat.protocol.errors import ApiError

# Codes of ours with one of OpenAI's that clients branch on, by the field that is wrong where it matters.
_CODES: Final = {
    ("not_authenticated", None): "invalid_api_key",
    ("not_found", "model"): "model_not_found",
    ("not_found", "previous_response_id"): "previous_response_not_found",
    ("models_invalid", "model"): "model_not_found",
    ("invalid_value", "stream_id"): "invalid_stream_id",
}
_TYPES: Final = {403: "permission_error", 429: "rate_limit_error"}


ObjectName = Annotated[str, doc("What the answer is, as OpenAI calls it.")]


class OpenAIErrorMembers(Answer):
    message: str
    type: str
    param: str | None
    code: str


class OpenAISocketErrorMembers(OpenAIErrorMembers):
    headers: Annotated[dict[str, str] | UnsetType, doc("That an answer over HTTP would have.")] = UNSET


class OpenAIErrorAnswer(Answer):
    error: OpenAIErrorMembers


def convert_error(status: int, body: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the body of an error of the API. Codes without one of OpenAI's stay as they are."""
    field, code = body.get("field"), body["code"]
    kind = "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error")
    members = OpenAIErrorMembers(body["message"], kind, field, _CODES.get((code, field), code))
    return OpenAIErrorAnswer(members).json()


@contextmanager
def inside(place: str | int) -> Iterator[None]:
    """Begin the field of an error with this place."""
    try:
        yield
    except ApiError as error:
        error.field = f"{place}.{error.field}" if error.field else str(place)
        raise
