"""Builds the body of a request as its server accepts it, and reads from a refusal what it does not accept. Pure."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from chat.transcript import dialect
from chat.transcript.answer_settings import api_members
from llm_worker.request.api_messages import to_api_messages, with_reasoning
from llm_worker.request.call_ids import with_accepted_ids
from llm_worker.request.model_message import LanguageModelInput, Message
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.failure_codes import is_refusal
from llm_worker.upstream.model_request import Model, Request
from llm_worker.upstream.taken_tools import called_names, taken_tools

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
