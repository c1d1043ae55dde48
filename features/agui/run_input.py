"""What `POST /agui` takes: the RunAgentInput of AG-UI 1.0, and what of its messages is new to a thread. Pure."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, NamedTuple
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType, json

from chat.protocol.answer import choice, doc
from chat.protocol.body import Body, parse_id, rule
from chat.protocol.errors import ApiError
from chat.transcript.waits import CallerTools
from features.agui.models import MAX_NAME_CHARACTERS
from features.openai.conversation import (
    MAX_CALL_ID_CHARACTERS,
    ToldInput,
    add_calls,
    check_length,
    check_name,
)
from features.openai.errors import inside
from features.openai.response_body import MAX_FILE_NAME, MAX_ITEMS, Ignored, parse_parts, text_of
from features.openai.tools import check_functions, parse_function
from knowledge.files.file_types import extension_for

_ROLES: Final = ("developer", "system", "user", "assistant", "tool", "reasoning", "activity")
_INSTRUCTING: Final = ("system", "developer")
# Ids of what a run has shown begin with its own. Those of calls have their block, and what the model calls them.
_OWN_ID: Final = re.compile(r"([0-9a-f]{32})-\d+(?:-(.+))?", re.DOTALL)
# What the model reads in the place of a part that it cannot have. The specification forbids to refuse the run for it.
_NOT_SHOWN: Final = "(a file that cannot be shown here)"


def run_of_id(name: str) -> UUID | None:
    """Return the run that has shown a message or call of this id; None if the id is not one of ours."""
    parsed = _OWN_ID.fullmatch(name)
    return UUID(parsed[1]) if parsed else None


def _check_messages(messages: list[Any]) -> list[Any]:
    for place, message in enumerate(messages):
        with inside(place):
            if not isinstance(message, dict):
                raise ApiError("invalid_type", "Expected an object.")
            if message.get("role") not in _ROLES:
                raise ApiError("invalid_value", f"One of {', '.join(_ROLES)}.", field="role")
            if not isinstance(message.get("id"), str):
                raise ApiError("invalid_type", "Expected a string.", field="id")
    return messages


def _parse_tools(tools: list[Any]) -> CallerTools:
    functions = []
    for place, tool in enumerate(tools):
        with inside(place):
            functions.append(parse_function(tool))
    check_functions(functions)
    return CallerTools(functions)


class AgUiContextBody(Body, forbid_unknown_fields=False):
    description: str
    value: str


class AgUiResumeBody(Body, rename="camel", forbid_unknown_fields=False):
    interrupt_id: str
    status: Annotated[str, choice(["resolved", "cancelled"])]
    payload: Annotated[
        Any,
        doc(
            "To a `tool_call`: `approved`, and perhaps `editedArgs` and a `note`; to a `question`: the values of its form."
        ),
    ] = None


_Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARACTERS)]


class AgUiRunBody(Body, kw_only=True, rename="camel", forbid_unknown_fields=False):
    thread_id: Annotated[
        _Name, doc("The id of a chat of yours; any other is a new chat of yours, and from then on that chat.")
    ]
    run_id: Annotated[_Name, doc("The same id in the same thread again joins the run.")]
    messages: Annotated[
        list[Any],
        rule(_check_messages),
        doc("The conversation. Behind the last message that the thread has, the new ones are taken."),
    ]
    tools: (
        Annotated[list[Any], rule(_parse_tools), doc("Functions that the frontend carries out.")]
        | UnsetType
        | None
    ) = UNSET
    context: Annotated[list[AgUiContextBody], doc("The model reads it.")] | UnsetType | None = UNSET
    resume: Annotated[list[AgUiResumeBody], doc("Answers to interrupts.")] | UnsetType | None = UNSET
    state: Ignored = None
    forwarded_props: Ignored = None
    parent_run_id: Ignored = None
    protocol_version: Ignored = None

    @property
    def caller_tools(self) -> CallerTools:
        tools: Any = self.tools
        return tools or CallerTools()

    @property
    def context_lines(self) -> str:
        lines = [f"{entry.description}: {entry.value}" for entry in self.context or ()]
        return "\n".join(["Context of the application:", *lines]) if lines else ""


def asks(message: Mapping[str, Any], text: str) -> bool:
    """Return whether a user's message has this text, or is the last of those that were joined to it."""
    asked = _join(message.get("content"), partial(_read_part, files=[], parsed=ToldInput.start()))
    return text == asked or text.endswith(f"\n\n{asked}")


def runs_of(messages: Sequence[Mapping[str, Any]]) -> list[UUID]:
    """Return the runs that have shown these messages, or made the calls that are answered, in order."""
    names = (str(message.get(member)) for message in messages for member in ("id", "toolCallId"))
    return [run for name in names if (run := run_of_id(name))]


def find_last(messages: Sequence[Mapping[str, Any]], known: Collection[str]) -> int:
    """Return the place of the last message with a known id; -1 if there is none."""
    return max((place for place, message in enumerate(messages) if message["id"] in known), default=-1)


def read_messages(messages: Sequence[Mapping[str, Any]], start: int, previous: UUID | None) -> ToldInput:
    """Read what the messages from `start` on tell, the instructions of all, and outputs of the calls of a run.

    previous: the run before `start`; None if there is none.  Raises ApiError.
    """
    parsed = ToldInput.start()
    if len(messages) - start > MAX_ITEMS:
        raise ApiError("invalid_value", f"At most {MAX_ITEMS} new messages.", field="messages")
    for place, message in enumerate(messages):
        with inside("messages"), inside(place):
            role = message["role"]
            if role in _INSTRUCTING:
                parsed.instructions.append(check_length(_text_content(message)))
            elif role == "tool" and _is_output_of(previous, message):
                _add_output(message, parsed)
            elif place >= start:
                _add_message(message, parsed)
    with inside("messages"):
        parsed.conversation.check_ended()
    return parsed


def _is_output_of(previous: UUID | None, message: Mapping[str, Any]) -> bool:
    """Return whether the frontend tells the output of a call of this run."""
    call = message.get("toolCallId")
    is_call = previous is not None and isinstance(call, str) and run_of_id(call) == previous
    return is_call and run_of_id(message["id"]) != previous


def _add_output(message: Mapping[str, Any], parsed: ToldInput) -> None:
    name = _OWN_ID.fullmatch(message["toolCallId"])
    parsed.conversation.outputs[(name and name[2]) or ""] = _output_text(message)


def _output_text(message: Mapping[str, Any]) -> str:
    if error := message.get("error"):
        return check_length(f"Error: {error}")
    return check_length(_text_content(message))


def _add_message(message: Mapping[str, Any], parsed: ToldInput) -> None:
    conversation = parsed.conversation
    match message["role"]:
        case "user":
            files: list[UUID] = []
            with inside("content"):
                text = check_length(
                    _join(message.get("content"), partial(_read_part, files=files, parsed=parsed))
                )
            conversation.ask(text, files)
        case "assistant":
            conversation.answer(check_length(_text_content(message)))
            with inside("toolCalls"):
                add_calls(conversation, message.get("toolCalls"), no_arguments="{}")
        case "tool":
            call_id = check_name("toolCallId", message.get("toolCallId"), MAX_CALL_ID_CHARACTERS)
            with inside("toolCallId"):
                conversation.output(call_id, _output_text(message))


def _text_content(message: Mapping[str, Any]) -> str:
    with inside("content"):
        return _join(message.get("content"), _read_text_part)


def _join(content: Any, read_part: Callable[[Any], str]) -> str:
    """Return the text of a message's content. read_part: returns that of one part."""
    return "\n\n".join(filter(None, parse_parts("" if content is None else content, read_part)))


def _read_text_part(part: Any) -> str:
    if not isinstance(part, dict):
        raise ApiError("invalid_type", "Expected an object.")
    return text_of(part) if part.get("type") == "text" else _NOT_SHOWN


def _read_part(part: Any, files: list[UUID], parsed: ToldInput) -> str:
    """Return the text of a part of a user's message; add the id of its file. Those that cannot be had are told of."""
    if not isinstance(part, dict):
        return _read_text_part(part)
    kind, source = part.get("type"), part.get("source")
    if kind == "binary":  # of AG-UI before 1.0
        source = {"type": "data", "value": part.get("data"), "mimeType": part.get("mimeType")}
        kind = "image" if str(part.get("mimeType")).startswith("image/") else "document"
    if kind not in ("image", "document") or not isinstance(source, dict):
        return _read_text_part(part)
    value, form = source.get("value"), source.get("type")
    if form == "file" and (file := parse_id(value)):
        files.append(file)
        return ""
    if form == "data" and isinstance(value, str):
        url = f"data:{source.get('mimeType')};base64,{value}"
    elif isinstance(value, str) and value.startswith("data:"):
        url = value
    else:
        return _NOT_SHOWN
    with inside("source"):
        files.append(parsed.add_inline(url, "" if kind == "image" else _file_name(part, url)))
    return ""


def _file_name(part: Mapping[str, Any], url: str) -> str:
    metadata = part.get("metadata")
    named = metadata.get("filename") or metadata.get("title") if isinstance(metadata, dict) else None
    if isinstance(named, str) and 1 <= len(named) <= MAX_FILE_NAME:
        return named
    ending = extension_for(url[len("data:") :].split(";", maxsplit=1)[0])
    return f"document.{ending}" if ending else "document"


class Around(NamedTuple):
    """The messages before and behind those of a run. is_cut: older ones are left out."""

    before: list[Any]
    behind: list[Any]
    is_cut: bool = False


def split_around(messages: Sequence[Mapping[str, Any]], run: UUID, most_bytes: int) -> Around | None:
    """Return the messages before and behind those of a run. None if they are more than this, or ask nothing."""
    own = [place for place, message in enumerate(messages) if run_of_id(message["id"]) == run]
    place = own[0] if own else len(messages)
    behind = [message for message in messages[place:] if run_of_id(message["id"]) != run]
    asks_something = any(message["role"] == "user" for message in messages)
    if not asks_something or len(json.encode(messages)) > most_bytes:
        return None
    return Around(list(messages[:place]), behind)
