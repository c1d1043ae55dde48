"""ToolIdentity: which tool a decision of a user is about. A tool with the same name may be another one. Pure."""

import hashlib
import json
import re
from typing import Any, Final, NamedTuple

from chat.protocol.call_answers import ToolChange

MAX_SUMMARY_CHARACTERS: Final = 300
# Not the dots of "e.g. tides" and "3.5".
_SENTENCE_END: Final = re.compile(r"[.!?](?= [^a-z])|[.!?]$|[\u3002\uff01\uff1f]")


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
    summary: the first sentence of its description.
    """

    parameters: dict[str, Any]
    identity: ToolIdentity = ToolIdentity()
    changed: str = ""
    summary: str = ""


def first_sentence(description: str) -> str:
    """Return the first sentence of a tool's description, in one line, or its beginning if that is long."""
    text = " ".join(description.split())
    end = _SENTENCE_END.search(text)
    sentence = text[: end.end()] if end else text
    return (
        sentence if len(sentence) <= MAX_SUMMARY_CHARACTERS else f"{sentence[: MAX_SUMMARY_CHARACTERS - 1]}…"
    )


def digest(value: Any) -> str:
    """Return the digest of a JSON value, whatever the order of its members."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
