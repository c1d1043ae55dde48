"""Reads from a refusal which form of the messages of a request its server does not accept. Pure."""

import re
from typing import Final

from chat.transcript import dialect
from llm_worker.request.alternation import alternate_roles
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.failure_codes import is_refusal
from llm_worker.upstream.model_request import Request

_SYSTEM_ROLE: Final = re.compile(
    r"(?:system|developer)\W.{0,60}(?:not support|unsupported|not allowed|not enabled|not permitted)"
    r"|(?:not support|unsupported).{0,60}\W(?:system|developer)\b"
)
# Templates of Gemma, Llama and Mistral; Mistral's API and NIM.
_ORDER_OF_ROLES: Final = re.compile(
    r"roles must alternate|unexpected role '\w+' after role|expected last role"
)
# DeepSeek; Kimi and gateways.
_MISSES_REASONING: Final = re.compile(
    r"reasoning_content.{0,80}(?:passed back|missing)|missing.{0,5}reasoning_content"
)


def refused_form(failure: ModelFailed, request: Request) -> str:
    """Return the trait of a server that refuses the form of these messages; empty if the failure names none."""
    if not is_refusal(failure.code, failure.status):
        return ""
    said = failure.searched
    if _ORDER_OF_ROLES.search(said) and alternate_roles(request.messages) != list(request.messages):
        return dialect.ALTERNATING_ROLES
    roles = {message.role for message in request.messages}
    if "assistant" in roles and _MISSES_REASONING.search(said):
        return dialect.REASONING_CONTENT
    return dialect.NO_SYSTEM_ROLE if "system" in roles and _SYSTEM_ROLE.search(said) else ""
