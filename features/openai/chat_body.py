"""What `POST /v1/chat/completions` takes: a conversation, of which the last message is the question."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import UNSET, UnsetType

from chat.protocol.answer import doc
from chat.protocol.body import Body, Text, has_visible_text, rule
from chat.protocol.errors import ApiError
from chat.transcript.answer_settings import OptionsBody
from chat.transcript.waits import CallerTools
from chat.turns.request import TurnBody
from features.openai.conversation import (
    MAX_CALL_ID_CHARACTERS,
    Exchange,
    InlineFile,
    ToldInput,
    add_calls,
    check_length,
    check_name,
)
from features.openai.errors import inside
from features.openai.response_body import CHOICE, FUNCTIONS, MAX_ITEMS, Ignored, file_of, parse_parts, text_of
from features.openai.tools import choose_tools, parse_tools

_INSTRUCTING: Final = ("system", "developer")
_FILE_PARTS: Final = ("image_url", "file")
# Members of options -> what the client called them.
_OPTIONS: Final = (
    "temperature", "top_p", "seed", "reasoning_effort", "response_format", "parallel_tool_calls",
)  # fmt: skip


def parse_messages(value: Any) -> ToldInput:
    """Parse the messages. Consecutive ones of one role are joined. Raises ApiError."""
    if not isinstance(value, list):
        raise ApiError("invalid_type", "Expected an array.")
    if not 1 <= len(value) <= MAX_ITEMS:
        raise ApiError("invalid_value", f"Between 1 and {MAX_ITEMS} messages.")
    parsed = ToldInput.start()
    for place, message in enumerate(value):
        with inside(place):
            if not isinstance(message, dict):
                raise ApiError("invalid_type", "Expected an object.")
            _parse_message(message, parsed)
    parsed.conversation.end()
    if not parsed.conversation.exchanges:
        raise ApiError("invalid_value", "One message at least is of a user.")
    return parsed


def _parse_message(message: Mapping[str, Any], parsed: ToldInput) -> None:
    role, conversation = message.get("role"), parsed.conversation
    if message.get("function_call"):
        raise ApiError("invalid_value", "Name functions in tool_calls.", field="function_call")
    if role not in ("user", "assistant", "tool", *_INSTRUCTING):
        raise ApiError("invalid_value", "One of system, developer, user, assistant, tool.", field="role")
    calls = message.get("tool_calls") if role == "assistant" else None
    files: list[UUID] = []
    parse_part = partial(_parse_user_part, files=files, parsed=parsed) if role == "user" else _parse_text_part
    with inside("content"):
        content = message.get("content")
        # Clients tell an answer that was stopped, or that failed, before its first word as one without content.
        content = (message.get("refusal") or "") if role == "assistant" and content is None else content
        text = check_length("\n\n".join(filter(None, parse_parts(content, parse_part))))
        if role == "user" and not (files or has_visible_text(text)):
            raise ApiError("message_empty")
    if role in _INSTRUCTING:
        parsed.instructions.append(text)
    elif role == "tool":
        if not conversation.exchanges:
            raise ApiError("invalid_value", "The first message is of a user.", field="role")
        call_id = check_name("tool_call_id", message.get("tool_call_id"), MAX_CALL_ID_CHARACTERS)
        with inside("tool_call_id"):
            conversation.output(call_id, text)
    elif role == "user":
        conversation.ask(text, files)
    else:
        conversation.answer(text if has_visible_text(text) else "")
        with inside("tool_calls"):
            add_calls(conversation, calls)


def _parse_text_part(part: Any) -> str:
    if not isinstance(part, dict) or part.get("type") not in ("text", "refusal"):
        raise ApiError("invalid_value", "Only parts of the type text are accepted.", field="type")
    return text_of(part)


def _parse_user_part(part: Any, files: list[UUID], parsed: ToldInput) -> str:
    """Return the text of a part of a user's message; add the id of its file."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text":
        return text_of(part)
    if kind not in _FILE_PARTS:
        raise ApiError("invalid_value", "One of text, image_url, file.", field="type")
    with inside(kind):
        if not isinstance(part.get(kind), dict):
            raise ApiError("invalid_type", "Expected an object.")
        if kind == "file":
            files.append(file_of(part["file"], parsed, "file_data"))
        else:
            with inside("url"):
                files.append(parsed.add_inline(part[kind].get("url")))
    return ""


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


def _check_none(functions: list[Any]) -> list[Any]:
    if functions:
        raise ApiError("invalid_value", "Name functions in tools.")
    return functions


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
    tools: Annotated[list[Any], rule(partial(parse_tools, is_nested=True)), FUNCTIONS] | UnsetType | None = (
        UNSET
    )
    tool_choice: Annotated[Any, CHOICE] = None
    functions: Annotated[list[Any], rule(_check_none), doc("Must be empty.")] | UnsetType | None = UNSET
    frequency_penalty: _Penalty = UNSET
    presence_penalty: _Penalty = UNSET
    logprobs: Annotated[bool, rule(_check_not)] | UnsetType | None = UNSET
    metadata: Ignored = None
    modalities: Ignored = None
    prompt_cache_key: Ignored = None
    prompt_cache_options: Ignored = None
    prompt_cache_retention: Ignored = None
    safety_identifier: Ignored = None
    service_tier: Ignored = None
    top_logprobs: Ignored = None
    user: Ignored = None
    verbosity: Ignored = None

    @property
    def includes_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)

    @property
    def inline_files(self) -> dict[UUID, InlineFile]:
        messages: ToldInput = self.messages
        return messages.inline

    @property
    def exchanges(self) -> list[Exchange]:
        messages: ToldInput = self.messages
        return messages.conversation.exchanges

    @property
    def caller_tools(self) -> CallerTools:
        return choose_tools(self.tools, self.tool_choice)

    def turn_body(self, models: list[str]) -> TurnBody:
        """Return the request to start the turn. models: that are named. Raises ApiError."""
        messages: ToldInput = self.messages
        options = {name: getattr(self, name) for name in (*_OPTIONS, "stop")}
        limits = [
            value for value in (self.max_completion_tokens, self.max_tokens) if value not in (None, UNSET)
        ]
        options["max_output_tokens"] = limits[0] if limits else None
        sent = {name: value for name, value in options.items() if value is not None and value is not UNSET}
        with inside("options"):
            parsed = OptionsBody.parse(sent)
        question = self.exchanges[-1]
        return TurnBody(
            question.question,
            models=models or UNSET,
            files=question.files,
            instructions=messages.join_instructions(),
            options=parsed,
        )
