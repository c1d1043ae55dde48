"""What a call that waits for approval says of its tool. ToolChange: what is different from the tool that its user has allowed. Pure."""

from enum import StrEnum
from typing import Final

from chat.protocol.member_types import choice, doc


class ToolChange(StrEnum):
    """The difference to the tool of the same name that the user has allowed, the greatest first."""

    SERVER = "server"  # another server has the name
    ADDRESS = "address"  # the server is reached at another address, or in another way
    DEFINITION = "definition"  # another description, schema or annotation


CHANGED: Final = choice(
    ToolChange,
    "Why it asks, although the user has allowed a tool of this name: another server has the name now, the server is reached in another way, or has changed the tool's definition. Absent: nothing of the kind is known.",
)
SUMMARY: Final = doc("The first sentence of its tool's description, in the words of whoever wrote the tool.")
