"""ToolIdentity: which tool a decision of a user is about. A tool with the same name may be another one. Pure."""

import hashlib
import json
from typing import Any, NamedTuple

from chat.protocol.tool_change import ToolChange


class ToolIdentity(NamedTuple):
    """server: the id of the tool's server.  address: the digest of how it is reached.
    definition: the digest of the tool as its server has listed it.
    All are empty for a built-in tool, whose name says which it is.
    """

    server: str = ""
    address: str = ""
    definition: str = ""

    def change_to(self, now: "ToolIdentity") -> str:
        """Return the greatest change; empty: there is none, or it is not known what the tool was."""
        if not self.server:
            return ""
        changes = zip(ToolChange, self, now, strict=True)
        return next((str(change) for change, before, after in changes if before != after), "")


class AskedTool(NamedTuple):
    """The tool of a call that waits, as its run was offered it. parameters: the JSON Schema of its arguments.
    changed: a ToolChange since the user has allowed a tool of this name; empty: none.
    """

    parameters: dict[str, Any]
    identity: ToolIdentity = ToolIdentity()
    changed: str = ""


def digest(value: Any) -> str:
    """Return the digest of a JSON value, whatever the order of its members."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
