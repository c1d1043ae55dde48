"""What `POST /v1/chat/completions` takes: a conversation, of which the last message is the question."""

from typing import Annotated, Any, Final, NamedTuple

from django.conf import settings
from msgspec import UNSET, UnsetType

from chat.protocol.body import Body, rule
from chat.protocol.errors import ApiError
from chat.protocol.member_types import doc
from chat.protocol.members import Text, has_visible_text
from chat.transcript.run_options import OptionsBody
from chat.turns.request import MAX_ADDITIONAL_CONTEXT_CHARACTERS, TurnBody
from features.openai.response_body import Ignored, check_no_tools, inside, parse_parts, text_of

MAX_MESSAGES: Final = 1_000
_INSTRUCTING: Final = ("system", "developer")
# Members of options -> what the client called them.
_OPTIONS: Final = (
    "temperature", "top_p", "seed", "reasoning_effort", "response_format", "parallel_tool_calls",
)  # fmt: skip


class ChatMessages(NamedTuple):
    """history: texts of users and assistants in turns, the user's first.  question: the user's last text."""

    instructions: str
    history: list[str]
    question: str


def parse_messages(value: Any) -> ChatMessages:
    """Parse the messages. Consecutive ones of one role are joined. Raises ApiError."""
    if not isinstance(value, list):
        raise ApiError("invalid_type", "Expected an array.")
    if not 1 <= len(value) <= MAX_MESSAGES:
        raise ApiError("invalid_value", f"Between 1 and {MAX_MESSAGES} messages.")
    instructions: list[str] = []
    texts: list[str] = []  # of users at even places, of assistants at odd ones
    for place, message in enumerate(value):
        with inside(place):
            role, text = _parse_message(message)
            is_answer = role == "assistant"
            if role in _INSTRUCTING:
                instructions.append(text)
            elif bool(len(texts) % 2) != is_answer and texts:
                texts[-1] = f"{texts[-1]}\n\n{text}"
            elif is_answer and not texts:
                raise ApiError("invalid_value", "The first message is of a user.", field="role")
            else:
                texts.append(text)
    if len(texts) % 2 == 0:
        raise ApiError("invalid_value", "The last message is of a user.")
    *history, question = texts
    return ChatMessages("\n\n".join(filter(None, instructions)), history, question)


def _parse_message(message: Any) -> tuple[str, str]:
    if not isinstance(message, dict):
        raise ApiError("invalid_type", "Expected an object.")
    role = message.get("role")
    if role not in ("user", "assistant", *_INSTRUCTING):
        raise ApiError("invalid_value", "One of system, developer, user, assistant.", field="role")
    for name in ("tool_calls", "function_call"):
        if message.get(name):
            raise ApiError("invalid_value", "Tools of the caller are not supported yet.", field=name)
    with inside("content"):
        text = "\n\n".join(parse_parts(message.get("content"), _parse_part))
        if role not in _INSTRUCTING and not has_visible_text(text):
            raise ApiError("message_empty")
        if len(text) > settings.MAX_MESSAGE_CHARACTERS:
            raise ApiError("message_too_long", limit=settings.MAX_MESSAGE_CHARACTERS, size=len(text))
    return role, text


def _parse_part(part: Any) -> str:
    if not isinstance(part, dict) or part.get("type") != "text":
        raise ApiError("invalid_value", "Only parts of the type text are accepted.", field="type")
    return text_of(part)


def _check_one(number: int) -> int:
    if number != 1:
        raise ApiError("invalid_value", "One answer to a request.")
    return number


def _check_zero(number: float) -> float:
    if number:
        raise ApiError("option_unsupported", "Penalties are not supported.")
    return number


def _check_not(flag: bool) -> bool:
    if flag:
        raise ApiError("option_unsupported", "Probabilities of tokens are not supported.")
    return flag


def _as_list(stop: Any) -> Any:
    return [stop] if isinstance(stop, str) else stop


class OpenAIStreamOptionsBody(Body):
    include_usage: bool = False
    include_obfuscation: Ignored = None


_Tools = Annotated[list[Any], rule(check_no_tools), doc("Must be empty.")] | UnsetType | None
_Penalty = Annotated[float, rule(_check_zero), doc("Must be 0.")] | UnsetType | None


class OpenAIChatBody(Body, kw_only=True):
    model: Text
    messages: Annotated[Any, rule(parse_messages, {"type": "array", "items": {}})]
    temperature: float | UnsetType | None = UNSET
    top_p: float | UnsetType | None = UNSET
    max_tokens: int | UnsetType | None = UNSET
    max_completion_tokens: int | UnsetType | None = UNSET
    stop: Annotated[Any, rule(_as_list), doc("A text, or up to four.")] = None
    seed: int | UnsetType | None = UNSET
    reasoning_effort: str | UnsetType | None = UNSET
    response_format: dict[str, Any] | UnsetType | None = UNSET
    parallel_tool_calls: bool | UnsetType | None = UNSET
    stream: bool | UnsetType | None = UNSET
    stream_options: OpenAIStreamOptionsBody | UnsetType | None = UNSET
    n: Annotated[int, rule(_check_one)] | UnsetType | None = UNSET
    store: Annotated[bool | None, doc("Whether the chat is listed and kept.")] = None
    tools: _Tools = UNSET
    functions: _Tools = UNSET
    frequency_penalty: _Penalty = UNSET
    presence_penalty: _Penalty = UNSET
    logprobs: Annotated[bool, rule(_check_not)] | UnsetType | None = UNSET
    metadata: Ignored = None
    modalities: Ignored = None
    prompt_cache_key: Ignored = None
    prompt_cache_retention: Ignored = None
    safety_identifier: Ignored = None
    service_tier: Ignored = None
    tool_choice: Ignored = None
    top_logprobs: Ignored = None
    user: Ignored = None
    verbosity: Ignored = None

    @property
    def includes_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)

    def turn_body(self, models: list[str]) -> TurnBody:
        """Return the request to start the turn. models: that are named. Raises ApiError."""
        messages: ChatMessages = self.messages
        if len(messages.instructions) > MAX_ADDITIONAL_CONTEXT_CHARACTERS:
            message = f"System messages have at most {MAX_ADDITIONAL_CONTEXT_CHARACTERS} characters together."
            raise ApiError("invalid_value", message, field="messages")
        options = {name: getattr(self, name) for name in (*_OPTIONS, "stop")}
        options["max_output_tokens"] = self.max_completion_tokens or self.max_tokens
        sent = {name: value for name, value in options.items() if value is not None and value is not UNSET}
        with inside("options"):
            parsed = OptionsBody.parse(sent)
        return TurnBody(
            messages.question,
            models=models or UNSET,
            additional_context=messages.instructions,
            options=parsed,
        )
