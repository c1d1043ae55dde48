"""ToolChange: what is different from the tool that a user has allowed. Pure."""

from enum import StrEnum
from typing import Final

from chat.protocol.member_types import choice


class ToolChange(StrEnum):
    """The difference to the tool of the same name that the user has allowed, the greatest first."""

    SERVER = "server"  # another server has the name
    ADDRESS = "address"  # the server is reached at another address, or in another way
    DEFINITION = "definition"  # another description, schema or annotation


CHANGED: Final = choice(
    ToolChange,
    "Why it asks, although the user has allowed a tool of this name: another server has the name now, the server is reached in another way, or has changed the tool's definition. Absent: nothing of the kind is known.",
)
