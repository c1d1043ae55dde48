"""Builds the body of a request as its server accepts it, tools included, and reads from refusals what it does not accept. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from chat.protocol.server_tool_names import is_server_tool
from chat.transcript import dialect
from chat.transcript.answer_settings import api_members
from chat.transcript.tools import digest
from llm_worker.request.call_ids import with_accepted_ids
from llm_worker.request.model_message import LanguageModelInput, Message, to_api_messages, with_reasoning
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.failures import is_refusal
from llm_worker.upstream.model_request import Model, Request

Schemas = Sequence[Mapping[str, Any]]

_DIGEST_CHARACTERS: Final = 12
# A request is not tried without one tool after the other for longer than this.
_MAX_REFUSED: Final = 16
# Gemini counts tools within their only group; FastAPI, Anthropic and OpenAI count groups.
_PLACES: Final = (
    re.compile(r"function_?declarations\[(\d+)\]"),
    re.compile(r"(?<![a-z_])tools?(?:\[|\.)(\d+)"),
)
# What is named is a call, in the history or by the model (Groq), not a tool that is offered.
_OF_A_CALL: Final = re.compile(
    r"messages?(?:\[|\.)\d|tool_use_failed|failed_generation|tool.?calls?\b|function call"
)
_NAMED: Final = r"(?:['\"`“\u2018]|\b(?:function|tool)s?:? ){name}(?![\w-])"
_TOO_MANY: Final = re.compile(
    r"(?:too (?:long|many)|maxim|at most|no more than|exceed|less than or equal|limit).*"
)
_OF_TOOLS: Final = re.compile(r"(?<![a-z_])(?:tools|functions|function_?declarations)(?![a-z_])")
# The limit of OpenAI and of most others, where a refusal says that there are too many but not how many are taken.
_USUAL_LIMIT: Final = 128


def taken_tools(
    schemas: Schemas, traits: Collection[str], uses: Mapping[str, int], callers: Collection[str] = ()
) -> list[Mapping[str, Any]]:
    """Return the tools that a server with these traits takes, in their order, and all of the caller's.

    uses: by name of a tool, how often it was called. Of more tools than the server takes, those used most are kept;
    among those used equally, our own before those of servers.  callers: names of the caller's tools.
    """
    refused = set(dialect.refused_tools(traits))
    accepted = [
        schema
        for schema in schemas
        if not refused or name_of(schema) in callers or _mark(schema) not in refused
    ]
    most = dialect.max_tools(traits)
    if most is None or len(accepted) <= most:
        return accepted
    ranked = sorted(
        map(name_of, accepted),
        key=lambda name: (name not in callers, -uses.get(name, 0), is_server_tool(name)),
    )
    chosen = {*callers, *ranked[:most]}
    return [schema for schema in accepted if name_of(schema) in chosen]


def name_of(schema: Mapping[str, Any]) -> str:
    return str(schema["function"]["name"])


def refused_tools(failure: ModelFailed, sent: Schemas, traits: Collection[str]) -> frozenset[str]:
    """Return the traits of a server that refuses some of the tools, or their number; empty if the failure names none.

    sent: as in the body of the request.
    """
    if not is_refusal(failure.code, failure.status) or len(dialect.refused_tools(traits)) >= _MAX_REFUSED:
        return frozenset()
    said = failure.searched
    if named := _at_places(said, sent) or _by_name(said, sent):
        return frozenset(dialect.REFUSED_TOOL + _mark(schema) for schema in named)
    limit = _limit(said, len(sent))
    return frozenset({f"{dialect.MAX_TOOLS}{limit}"} if limit else ())


def refused_of_caller(refused: Collection[str], callers: Collection[str]) -> str:
    """Return which of the caller's tools these traits leave out, as `tools.name`, or `tools`; empty: none."""
    names = {tool.rpartition(":")[0] for tool in dialect.refused_tools(refused)}
    if named := names.intersection(callers):
        return f"tools.{min(named)}"
    most = dialect.max_tools(refused)
    return "tools" if most is not None and most < len(callers) else ""


def called_names(messages: LanguageModelInput) -> dict[str, int]:
    """Count the calls of each tool in the messages."""
    return Counter(call.name for message in messages for call in message.calls)


def _mark(schema: Mapping[str, Any]) -> str:
    return f"{name_of(schema)}:{digest(schema)[:_DIGEST_CHARACTERS]}"


def _at_places(said: str, sent: Schemas) -> list[Mapping[str, Any]]:
    places = next((found for pattern in _PLACES if (found := pattern.findall(said))), [])
    return [sent[place] for place in {int(digits[:6]) for digits in places} if place < len(sent)]


def _by_name(said: str, sent: Schemas) -> list[Mapping[str, Any]]:
    """Return the tool that is named first: what is named after it may be a list of those that are known."""
    if _OF_A_CALL.search(said):
        return []
    found = (
        (match.start(), place)
        for place, schema in enumerate(sent)
        if (match := re.search(_NAMED.format(name=re.escape(name_of(schema).lower())), said))
    )
    first = min(found, default=None)
    return [sent[first[1]]] if first else []


def _limit(said: str, count: int) -> int | None:
    """Return how many tools the server takes, if it says that `count` are too many."""
    found = _TOO_MANY.search(said)
    if not found or not _OF_TOOLS.search(said):
        return None
    numbers = [int(digits) for digits in re.findall(r"\b\d{1,4}\b", found[0])]
    return next(
        (number for number in numbers if 0 < number < count), _USUAL_LIMIT if count > _USUAL_LIMIT else None
    )


# Member of a request -> the trait of a server that refuses it. Options that a user chose are never left out silently.
_BY_MEMBER: Final = {
    "max_tokens": dialect.MAX_COMPLETION_TOKENS,
    "stream_options": dialect.NO_STREAM_OPTIONS,
    "tool_choice": dialect.NO_TOOL_CHOICE,
    "temperature": dialect.NO_TEMPERATURE,
    "parallel_tool_calls": dialect.NO_PARALLEL_TOOL_CALLS,
}
_CHOSEN_BY_USERS: Final = frozenset({"temperature", "parallel_tool_calls"})
# Refusals of the name; a limit that is too high is refused in other words.
_OTHER_NAME: Final = re.compile(
    r"max_completion_tokens|unsupported|not supported|extra|unrecognized|unknown|not permitted"
)
# Between the system prompt and the first question, for servers without a system role.
_SEPARATOR: Final = "\n\n"


def request_body(request: Request, *, is_streamed: bool) -> dict[str, Any]:
    model = request.model
    body: dict[str, Any] = {
        "model": model.name,
        "messages": _accepted_messages(request),
        "stream": is_streamed,
    }
    if is_streamed and dialect.NO_STREAM_OPTIONS not in model.dialect:
        body["stream_options"] = {"include_usage": True}
    if model.max_output_tokens is not None:
        body[_max_tokens_name(model)] = model.max_output_tokens
    body |= api_members(request.options, has_tools=bool(request.tools))
    body |= _tool_members(request)
    if model.takes_prompt_cache_key and request.cache_key:
        body["prompt_cache_key"] = request.cache_key
    if not is_streamed:
        refused = {name for name in _CHOSEN_BY_USERS if _BY_MEMBER[name] in model.dialect}
        body = {name: value for name, value in body.items() if name not in refused}
    return body


def refused_trait(failure: ModelFailed, body: Mapping[str, Any]) -> str:
    """Return the trait of a server that refuses a member of this request; empty if the failure names none."""
    if not is_refusal(failure.code, failure.status):
        return ""
    said = failure.searched
    for member, trait in _BY_MEMBER.items():
        # An option that a user chose is refused by name, in the answers that users read.
        is_ours = member not in _CHOSEN_BY_USERS or not body["stream"]
        if is_ours and member in body and re.search(rf"(?<![a-z_]){member}(?![a-z_])", said):
            return trait if member != "max_tokens" or _OTHER_NAME.search(said) else ""
    return ""


def _accepted_messages(request: Request) -> list[dict[str, Any]]:
    """Return the messages in the form that the server accepts, as far as that is known."""
    traits, messages = request.model.dialect, request.sent_messages
    if dialect.NO_SYSTEM_ROLE in traits:
        messages = _without_system_role(messages)
    accepted = to_api_messages(with_accepted_ids(messages, traits))
    return with_reasoning(accepted) if dialect.REASONING_CONTENT in traits else accepted


def sent_tools(request: Request) -> list[Mapping[str, Any]]:
    """Return the tools of the request that its server takes, as far as is known."""
    uses = called_names(request.messages)
    return taken_tools(request.tools, request.model.dialect, uses, request.callers)


def _tool_members(request: Request) -> dict[str, Any]:
    tools = sent_tools(request)
    if not tools:
        return {}
    if dialect.NO_TOOL_CHOICE not in request.model.dialect:
        return {"tools": tools, "tool_choice": request.tool_choice}
    # Without the choice, only the absence of tools says that none may be called.
    return {} if request.tool_choice == "none" else {"tools": tools}


def _max_tokens_name(model: Model) -> str:
    # OpenAI's reasoning models reject the name that all compatible servers accept.
    is_new = dialect.MAX_COMPLETION_TOKENS in model.dialect or "//api.openai.com" in model.base_url
    return "max_completion_tokens" if is_new else "max_tokens"


def _without_system_role(messages: LanguageModelInput) -> list[Message]:
    """Return the messages without the role "system"; the system text moves before the first user message."""
    prompts = [message.text for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    if not prompts:
        return others
    first = next((at for at, message in enumerate(others) if message.role == "user"), None)
    if first is None or first > 0:
        return [Message("U", _SEPARATOR.join(prompts)), *others]
    joined = replace(others[0], text=_SEPARATOR.join((*prompts, others[0].text)))
    return [joined, *others[1:]]
