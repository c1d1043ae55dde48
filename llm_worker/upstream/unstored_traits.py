"""The traits of a server that a process learns for itself. Pure.

A constraint of the database lists the traits that rows store (chat.transcript.dialect); these are not among them.
"""

from typing import Final

ALTERNATING_ROLES: Final = "alternating_roles"  # as Model.requires_alternating_roles
REASONING_CONTENT: Final = "reasoning_content"  # each message of the assistant has one
UNSTORED: Final = frozenset({ALTERNATING_ROLES, REASONING_CONTENT})
