"""Items of responses while their parts are shown: a text, or a call. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from chat.transcript.waits import Asked

# Calls that this server has carried out are shown as calls of a remote server of this name.
SERVER_LABEL: Final = "turnwire"


class Form(NamedTuple):
    """How a kind of text is shown. more: members of all events of its text, and of its part."""

    prefix: str
    part_event: str
    text_event: str
    index_name: str
    more: Mapping[str, Any]


MESSAGE: Final = Form(
    "msg", "response.content_part", "response.output_text", "content_index", {"logprobs": []}
)
REASONING: Final = Form(
    "rs", "response.reasoning_summary_part", "response.reasoning_summary_text", "summary_index", {}
)


@dataclass
class Text:
    """An open item with one text. unshown: the end of the text, which is not in an event yet."""

    form: Form
    id: str
    text: str = ""
    unshown: str = ""
    annotations: list[dict[str, Any]] = field(default_factory=list)

    def part(self, text: str) -> dict[str, Any]:
        if self.form is REASONING:
            return {"type": "summary_text", "text": text}
        return {"type": "output_text", "text": text, "annotations": [*self.annotations], "logprobs": []}

    def item(self, status: str, *parts: dict[str, Any]) -> dict[str, Any]:
        if self.form is REASONING:
            return {"id": self.id, "type": "reasoning", "status": status, "summary": [*parts]}
        return {
            "id": self.id,
            "type": "message",
            "status": status,
            "role": "assistant",
            "content": [*parts],
        }


@dataclass
class Call:
    """A call of a round. status: how it ended, as its packet says; None while it runs.

    request: the id of the item that asked whether it may run.  is_stored: it has its arguments, so that its round is
    stored, with what its calls ask.  is_asking: it waits for its user, and the attempt ends without its end.
    """

    name: str
    call_id: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    written: str = ""
    output: str | None = None
    status: str | None = None
    id: str = ""  # of its item, once it is shown
    request: str = ""
    is_stored: bool = False
    is_asking: bool = False
    is_done: bool = False

    def function_item(self, status: str) -> dict[str, Any]:
        """Return the item of a call that is handed over to the caller."""
        arguments = encode_arguments(self.arguments) if status == "completed" else ""
        members = {"call_id": self.call_id, "name": self.name, "arguments": arguments, "status": status}
        return {"id": self.id, "type": "function_call", **members}

    def item(self, status: str) -> dict[str, Any]:
        has_ended = status != "in_progress"
        is_failed = status == "failed"
        return {
            "id": self.id,
            "type": "mcp_call",
            "server_label": SERVER_LABEL,
            "name": self.name,
            "arguments": encode_arguments(self.arguments) if has_ended else "",
            "status": status,
            "output": (self.output or "") if has_ended and not is_failed else None,
            "error": {"type": "mcp_tool_execution_error", "content": self._failure()} if is_failed else None,
            **({"approval_request_id": self.request} if self.request else {}),
        }

    def _failure(self) -> list[dict[str, Any]]:
        return [{"type": "text", "text": self.output or self.status}]


def request_item(name: str, asked: Asked) -> dict[str, Any]:
    """Return the item that asks whether a call may run. name: its id."""
    return {
        "id": name,
        "type": "mcp_approval_request",
        "server_label": SERVER_LABEL,
        "name": asked.name,
        "arguments": encode_arguments(asked.arguments),
    }


def encode_arguments(value: Any) -> str:
    """Encode arguments. Stored ones have their members in another order."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
