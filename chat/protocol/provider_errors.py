"""Codes of what keeps a provider of models from being used, with what people read. Pure.

A check of a provider fails with one of these or with one of RUN_ERRORS. Clients branch on the codes.
"""

from typing import Final

from chat.protocol.run_errors import RUN_ERRORS

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
