"""What `POST /v1/responses` takes, and the turn that it asks for."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType

from chat.models.approval import MAX_NOTE_CHARACTERS
from chat.protocol.answer import choice, doc
from chat.protocol.body import Body, Text, parse_id, rule
from chat.protocol.errors import ApiError
from chat.transcript.answer_settings import OptionsBody
from chat.transcript.waits import CallerTools
from chat.turns.regeneration import RegenerationBody
from chat.turns.request import MAX_INSTRUCTIONS_CHARACTERS, TurnBody
from features.openai.conversation import (
    APPROVALS_ALONE,
    MAX_CALL_ID_CHARACTERS,
    ApprovalReply,
    Exchange,
    InlineFile,
    ToldInput,
    check_length,
    check_name,
    parse_call,
)
from features.openai.errors import inside
from features.openai.tools import choose_tools, parse_tools

MAX_METADATA: Final = 16
# Members of a turn -> what the client called them; of several, the first that the field begins with.
FIELDS: Final = {
    "parent": "previous_response_id",
    "text": "input",
    "files": "input",
    "file": "input",
    "models": "model",
    "options.reasoning_effort": "reasoning.effort",
    "options.response_format.json_schema": "text.format",
    "options.response_format": "text.format",
    "options.": "",
}
_INSTRUCTING: Final = ("system", "developer")
_TEXT_PARTS: Final = ("input_text", "output_text", "text", "refusal")
# What clients send back of what they were shown, which is known here or is the caller's no more.
_OWN_ITEMS: Final = ("reasoning", "mcp_call", "mcp_list_tools")
MAX_ITEMS: Final = 1_000
_FILE_PARTS: Final = ("input_image", "input_file")
# What the model reads in the place of a file that a function of the caller returned.
_NOT_SHOWN: Final = "(a file that cannot be shown here)"
MAX_FILE_NAME: Final = 255


def parse_input(value: Any) -> ToldInput:
    """Parse a text, or a list of messages, calls and their outputs. Raises ApiError."""
    if isinstance(value, str):
        parsed = ToldInput.start()
        parsed.conversation.ask(value)
        return parsed
    if not isinstance(value, list):
        raise ApiError("invalid_type", "Expected a string or an array.")
    parsed = parse_items(value)
    parsed.end()
    return parsed


def parse_items(value: list[Any]) -> ToldInput:
    """Parse messages, calls and their outputs, whatever they end with. Raises ApiError."""
    parsed = ToldInput.start()
    if len(value) > MAX_ITEMS:
        raise ApiError("invalid_value", f"At most {MAX_ITEMS} items.")
    for place, item in enumerate(value):
        with inside(place):
            _parse_item(item, parsed)
    return parsed


def _parse_item(item: Any, parsed: ToldInput) -> None:
    if not isinstance(item, dict):
        raise ApiError("invalid_type", "Expected an object.")
    conversation = parsed.conversation
    _end_approvals(item, parsed)
    match item.get("type", "message"):
        case "message":
            _parse_message(item, parsed)
        case "function_call":
            conversation.call(parse_call(item.get("call_id"), item.get("name"), item.get("arguments")))
        case "function_call_output":
            call_id = check_name("call_id", item.get("call_id"), MAX_CALL_ID_CHARACTERS)
            with inside("output"):
                text = check_length("\n\n".join(parse_parts(item.get("output"), _parse_output_part)))
            with inside("call_id"):
                conversation.output(call_id, text)
        case "mcp_approval_response":
            _parse_approval(item, parsed)
        case "mcp_approval_request":
            parsed.requests.add(str(item.get("id")))
        case kind if kind not in _OWN_ITEMS:
            message = "One of message, function_call, function_call_output, mcp_approval_response."
            raise ApiError("invalid_value", message, field="type")


def _end_approvals(item: Mapping[str, Any], parsed: ToldInput) -> None:
    """Forget the approvals before an item that was answered to them. Raises ApiError if another message follows them."""
    kind = item.get("type", "message")
    if kind in ("reasoning", "mcp_call", "function_call") or item.get("role") == "assistant":
        parsed.approvals.clear()
    elif parsed.approvals and kind in ("message", "function_call_output"):
        raise ApiError("invalid_value", APPROVALS_ALONE)


def _parse_message(item: Mapping[str, Any], parsed: ToldInput) -> None:
    role, files = item.get("role"), list[UUID]()
    if role not in ("user", "assistant", *_INSTRUCTING):
        raise ApiError("invalid_value", "One of user, assistant, system, developer.", field="role")
    if "content" not in item:
        raise ApiError("field_required", field="content")
    with inside("content"):
        parse_part = partial(_parse_part, files=files, parsed=parsed) if role == "user" else _parse_text_part
        text = check_length("\n\n".join(filter(None, parse_parts(item["content"], parse_part))))
    if role in _INSTRUCTING:
        parsed.instructions.append(text)
    elif role == "user":
        parsed.conversation.ask(text, files)
    else:
        parsed.conversation.answer(text)


def _parse_approval(item: Mapping[str, Any], parsed: ToldInput) -> None:
    name = check_name("approval_request_id", item.get("approval_request_id"), MAX_CALL_ID_CHARACTERS)
    is_approved, reason = item.get("approve"), item.get("reason") or ""
    if not isinstance(is_approved, bool):
        raise ApiError("invalid_type", "Expected a boolean.", field="approve")
    if not isinstance(reason, str):
        raise ApiError("invalid_type", "Expected a string.", field="reason")
    if len(reason) > MAX_NOTE_CHARACTERS:
        raise ApiError("invalid_value", f"At most {MAX_NOTE_CHARACTERS} characters.", field="reason")
    with inside("approval_request_id"):
        parsed.approve(name, ApprovalReply(is_approved, reason))


def _parse_text_part(part: Any) -> str:
    if not isinstance(part, dict) or part.get("type") not in _TEXT_PARTS:
        raise ApiError("invalid_value", "Only texts are accepted.", field="type")
    return text_of(part)


def _parse_output_part(part: Any) -> str:
    if isinstance(part, dict) and part.get("type") in _FILE_PARTS:
        return _NOT_SHOWN
    return _parse_text_part(part)


def parse_parts(content: Any, parse_part: Callable[[Any], str]) -> list[str]:
    """Return the texts of a message's parts. parse_part: returns that of one. Raises ApiError."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        raise ApiError("invalid_type", "Expected a string or an array.")
    texts = []
    for place, part in enumerate(content):
        with inside(place):
            texts.append(parse_part(part))
    return texts


def _parse_part(part: Any, files: list[UUID], parsed: ToldInput) -> str:
    """Return the text of a part; add the id of its file."""
    if not isinstance(part, dict):
        raise ApiError("invalid_type", "Expected an object.")
    kind = part.get("type")
    if kind in _TEXT_PARTS:
        return text_of(part)
    if kind not in _FILE_PARTS:
        raise ApiError("invalid_value", "One of input_text, input_image, input_file.", field="type")
    if part.get("file_url"):
        raise ApiError("invalid_value", "No address is requested. Upload the file.", field="file_url")
    files.append(file_of(part, parsed, "image_url" if kind == "input_image" else "file_data"))
    return ""


def file_of(part: Mapping[str, Any], parsed: ToldInput, data: str) -> UUID:
    """Return the id of the file of a part. data: the member that may have its content. Raises ApiError."""
    if part.get(data):
        name = "" if data == "image_url" else check_name("filename", part.get("filename"), MAX_FILE_NAME)
        with inside(data):
            return parsed.add_inline(part[data], name)
    file = parse_id(part.get("file_id"))
    if file is None:
        raise ApiError("invalid_id", field="file_id")
    return file


def text_of(part: Mapping[str, Any]) -> str:
    """Return the text of a part that has one. Raises ApiError."""
    name = "refusal" if part.get("type") == "refusal" else "text"
    text = part.get(name)
    if not isinstance(text, str):
        raise ApiError("invalid_type", "Expected a string.", field=name)
    return text


def _check_metadata(metadata: dict[str, str]) -> dict[str, str]:
    if len(metadata) > MAX_METADATA:
        raise ApiError("invalid_value", f"At most {MAX_METADATA} values.")
    if any(len(name) > 64 for name in metadata):
        raise ApiError("invalid_value", "A name has at most 64 characters.")
    return metadata


Metadata = Annotated[
    dict[str, Annotated[str, Meta(max_length=512)]],
    rule(_check_metadata),
    Meta(extra_json_schema={"maxProperties": MAX_METADATA}),
]


def _check_conversation(value: Any) -> str | None:
    name = value.get("id") if isinstance(value, dict) else value
    if name is not None and not isinstance(name, str):
        raise ApiError("invalid_type", "Expected an id.")
    return name


class OpenAIReasoningBody(Body):
    effort: str | UnsetType | None = UNSET
    # Summaries are shown whenever the model reasons.
    summary: str | UnsetType | None = UNSET
    generate_summary: str | UnsetType | None = UNSET


class OpenAITextBody(Body):
    format: (
        Annotated[dict[str, Any], doc("`type`, and with `json_schema` also `name` and `schema`.")]
        | UnsetType
        | None
    ) = UNSET
    verbosity: Annotated[str | None, doc("Not used.")] = None


Ignored = Annotated[Any, doc("Not used.")]
FUNCTIONS: Final = doc("Functions that the caller carries out.")
CHOICE: Final = doc("`auto`, `none`, `required`, or a function of `tools`.")


class OpenAIResponseBody(Body, kw_only=True):
    model: Text | UnsetType | None = UNSET
    input: Annotated[
        Any,
        rule(parse_input, {"type": ["string", "array"], "items": {}}),
        doc(
            "A text, or messages with texts and files, and the calls of the caller's functions with their outputs; "
            "or the answers to all approvals that a response asks for."
        ),
    ]
    instructions: Annotated[str, Meta(max_length=MAX_INSTRUCTIONS_CHARACTERS)] | UnsetType | None = UNSET
    previous_response_id: str | UnsetType | None = UNSET
    conversation: Annotated[Any, rule(_check_conversation), doc("Its id, or an object with it.")] = None
    temperature: float | UnsetType | None = UNSET
    top_p: float | UnsetType | None = UNSET
    max_output_tokens: int | UnsetType | None = UNSET
    reasoning: OpenAIReasoningBody | UnsetType | None = UNSET
    text: OpenAITextBody | UnsetType | None = UNSET
    parallel_tool_calls: bool | UnsetType | None = UNSET
    metadata: Metadata | UnsetType | None = UNSET
    store: bool | UnsetType | None = UNSET
    stream: bool | UnsetType | None = UNSET
    background: bool | UnsetType | None = UNSET
    tools: Annotated[list[Any], rule(partial(parse_tools, is_nested=False)), FUNCTIONS] | UnsetType | None = (
        UNSET
    )
    tool_choice: Annotated[Any, CHOICE] = None
    truncation: Annotated[str, choice(["auto", "disabled"], "Not used.")] | UnsetType | None = UNSET
    include: Ignored = None
    max_tool_calls: Ignored = None
    client_metadata: Ignored = None
    prompt_cache_key: Ignored = None
    prompt_cache_options: Ignored = None
    prompt_cache_retention: Ignored = None
    safety_identifier: Ignored = None
    service_tier: Ignored = None
    stream_options: Ignored = None
    top_logprobs: Ignored = None
    user: Ignored = None

    def __post_init__(self) -> None:
        if self.previous_response_id and self.conversation:
            raise ApiError(
                "invalid_value", "Name a response or a conversation, not both.", field="conversation"
            )
        if self.previous_response_id or self.conversation:
            with inside("input"):
                parsed: ToldInput = self.input
                parsed.check_approvals_are_alone()
        # Approvals let an answer go on, stored or not.
        if self.store is False and not self.approvals:
            for name in ("background", "previous_response_id", "conversation"):
                if getattr(self, name):
                    raise ApiError("invalid_value", f"A response with {name} is stored.", field="store")

    @property
    def inline_files(self) -> dict[UUID, InlineFile]:
        parsed: ToldInput = self.input
        return parsed.inline

    @property
    def exchanges(self) -> list[Exchange]:
        parsed: ToldInput = self.input
        return parsed.conversation.exchanges or [Exchange("", [])]

    @property
    def asks(self) -> bool:
        """Whether a question is told, and not outputs alone."""
        parsed: ToldInput = self.input
        return bool(parsed.conversation.exchanges)

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs of calls that an earlier response has made, by id."""
        parsed: ToldInput = self.input
        return parsed.conversation.outputs

    @property
    def approvals(self) -> dict[str, ApprovalReply]:
        """The answers to items with which an earlier response asks for approvals, by their ids."""
        parsed: ToldInput = self.input
        return parsed.approvals

    @property
    def caller_tools(self) -> CallerTools:
        return choose_tools(self.tools, self.tool_choice)

    def turn_body(self, models: list[str]) -> TurnBody:
        """Return the request to start the turn. models: that are named. Raises ApiError."""
        question = self.exchanges[-1]
        return TurnBody(
            question.question,
            models=models or UNSET,
            files=question.files,
            instructions=self._instructions(),
            options=self._options(),
        )

    def continuation(self, models: list[str]) -> tuple[RegenerationBody, CallerTools, str]:
        """Return the request to go on from outputs, with its tools and instructions. Raises ApiError."""
        request = RegenerationBody(models=models, options=self._options())
        return request, self.caller_tools, self._instructions()

    def _instructions(self) -> str:
        parsed: ToldInput = self.input
        return parsed.join_instructions(self.instructions or "")

    def _options(self) -> OptionsBody:
        with inside("options"):
            return OptionsBody.parse(self.named_options())

    def named_options(self) -> dict[str, Any]:
        """Return the options of a run that the request names, not validated."""
        named = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_output_tokens": self.max_output_tokens,
            "parallel_tool_calls": self.parallel_tool_calls,
            "reasoning_effort": self.reasoning.effort if self.reasoning else None,
            "response_format": _response_format(self.text.format) if self.text and self.text.format else None,
        }
        return {name: value for name, value in named.items() if value is not None and value is not UNSET}


def _response_format(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return a format as chat completions and turns have it: with the schema in a member of its own."""
    kind, schema = form.get("type", "text"), {name: value for name, value in form.items() if name != "type"}
    return {"type": kind, "json_schema": schema} if kind == "json_schema" else {"type": kind, **schema}


@contextmanager
def named_as_sent(fields: Mapping[str, str] = FIELDS) -> Iterator[None]:
    """Name the field of an error of a turn as the client did. fields: as FIELDS."""
    try:
        yield
    except ApiError as error:
        field = error.field or ""
        renamed = next((name for name in fields if field.startswith(name)), None)
        if renamed is not None:
            error.field = fields[renamed] + field.removeprefix(renamed)
        raise
