"""The errors that a run, or a check of a provider, can end with: what users are told, and whether it is worth trying again.

Pure. Clients branch on the codes.
"""

from typing import Final

from chat.protocol.wire import Error

RUN_ERRORS: Final[dict[str, tuple[str, bool]]] = {
    "context_too_long": (
        "The conversation is too long for the model. Shorten it, or use a larger model.",
        False,
    ),
    "prompt_too_long": (
        "The prompts of the agent, the project and the chat are too long for the model. Shorten them, or use a larger model.",
        False,
    ),
    "tools_too_long": (
        "The descriptions of the chosen tools are too long for the model. Choose fewer tools, or use a larger model.",
        False,
    ),
    "empty_response": ("The model returned an empty answer.", True),
    "output_limit_reached": ("The model reached its output limit before the answer began.", True),
    "model_refusal": ("The model declined to answer.", False),
    "model_not_configured": ("The model is not available any more.", False),
    "tool_unknown": ("The model cannot use the requested tool.", False),
    "tool_not_configured": ("The requested tool is not set up on this server.", False),
    "option_unsupported": ("The model cannot have an option that was chosen.", False),
    "upstream_option_rejected": ("The model server refused an option that was chosen.", False),
    "upstream_auth": ("The model server refused the credentials.", False),
    "upstream_quota": ("The budget at the model server is used up.", False),
    "model_not_found": ("The model server does not have this model.", False),
    "content_filtered": ("The model server's content filter rejected the request.", False),
    "upstream_rejected": ("The model server rejected the request.", False),
    "upstream_rate_limited": ("The model server is busy.", True),
    "upstream_unavailable": ("The model server failed or is overloaded.", True),
    "upstream_unreachable": ("The model server could not be reached.", True),
    "upstream_timeout": ("The model server did not answer in time.", True),
    "upstream_interrupted": ("The model server broke off in the middle of the answer.", True),
    "upstream_malformed": ("The model server sent something that is not a chat completion.", True),
    "run_limit_reached": ("The answer used all that one answer may use before it had a text.", False),
    "deadline_exceeded": ("The answer took longer than allowed.", True),
    "worker_lost": ("The answer was interrupted too often.", True),
    "internal_error": ("Something went wrong on our side.", True),
}


def run_error(code: str, subject: str = "") -> Error:
    """Build the error of this code. subject: the name of what is wrong, if there is one."""
    message, retryable = RUN_ERRORS[code]
    if subject:
        message = f"{message.removesuffix('.')}: {subject}."
    return Error(code=code, message=message, retryable=retryable)


PROVIDER_ERRORS: Final[dict[str, str]] = {
    "address_refused": "The address belongs to no model server.",
    "redirected": "The server sends requests to another address. Enter that one.",
    "no_model_list": "The server has no list of models at this address. Usually the address ends in /v1.",
    "not_json": "The server answers, but not in JSON. Usually the address ends in /v1.",
    "not_openai": "The server answers, but not as OpenAI-compatible servers do.",
    "list_too_long": "The list of models is too long.",
    "key_unreadable": "The key cannot be decrypted any more. Enter it again.",
    "encryption_unavailable": "SECRETS_KEYS is not set for the llm workers.",
}
CHECK_ERRORS: Final = frozenset({*PROVIDER_ERRORS, *RUN_ERRORS})
