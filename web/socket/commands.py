"""The commands of the socket, one Struct each; their docstrings are the summaries of the AsyncAPI document. No I/O.

Commands are executed by consumer.py and, if they change rows, by handlers.py.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import UNSET, UnsetType

from chat.log.cursor import Cursor
from chat.protocol.answer import doc
from chat.protocol.body import Body, parse_id, rule
from chat.protocol.errors import ApiError
from chat.protocol.strict_json import decode
from chat.turns.approvals import ApprovalBody
from chat.turns.request import TurnBody

Members = Mapping[str, Any]
# The largest value of a Postgres integer column.
_MAX_NUMBER: Final = 2**31 - 1
_NUMBER: Final[dict[str, Any]] = {"type": "integer", "minimum": 0, "maximum": _MAX_NUMBER}
_MAX_CURSORS: Final = 200


def _parse_number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_NUMBER:
        raise ApiError("invalid_cursor")
    return value


def _parse_since(since: object) -> int | None:
    return None if since is None else _parse_number(since)


def _parse_cursors(cursors: Any) -> dict[UUID, Cursor]:
    if cursors is None:
        return {}
    if not isinstance(cursors, dict) or len(cursors) > _MAX_CURSORS:
        raise ApiError("invalid_cursor")
    return {_parse_run(run): _parse_cursor(cursor) for run, cursor in cursors.items()}


def _parse_run(text: str) -> UUID:
    run = parse_id(text)
    if run is None:
        raise ApiError("invalid_cursor")
    return run


def _parse_cursor(value: object) -> Cursor:
    if not isinstance(value, dict) or value.keys() != {"attempt", "seq"}:
        raise ApiError("invalid_cursor")
    return Cursor(_parse_number(value["attempt"]), _parse_number(value["seq"]))


class PingCommand(Body, tag_field="type", tag="ping"):
    """Test the connection."""


class SubscribeCommand(Body, tag_field="type", tag="subscribe"):
    """Subscribe to a session. since and cursors name what the client already has."""

    session: UUID
    # Any: every invalid value is an invalid_cursor.
    since: Annotated[
        Any,
        rule(_parse_since, _NUMBER | {"type": ["integer", "null"]}),
        doc("The n of the latest session event that the client has."),
    ] = None
    cursors: Annotated[
        Any,
        rule(
            _parse_cursors,
            {
                "type": ["object", "null"],
                "maxProperties": _MAX_CURSORS,
                "propertyNames": {"type": "string", "format": "uuid"},
                "additionalProperties": {
                    "type": "object",
                    "required": ["attempt", "seq"],
                    "additionalProperties": False,
                    "properties": {"attempt": _NUMBER, "seq": _NUMBER},
                },
            },
        ),
        doc("By run, the latest packet that the client has."),
    ] = None


class UnsubscribeCommand(Body, tag_field="type", tag="unsubscribe"):
    """End a subscription."""

    session: UUID


class WatchSessionsCommand(Body, tag_field="type", tag="watch_sessions"):
    """Subscribe to changes of the user's sessions and projects. Read the lists after the reply, and again after every
    reconnect."""


class SendCommand(TurnBody, kw_only=True, tag_field="type", tag="send"):
    """Start a turn, as POST sessions/{session}/turns/ does. Send texts over 200 KiB by REST."""

    session: UUID


class StopCommand(Body, tag_field="type", tag="stop"):
    """Stop one run, or all runs of a turn."""

    keywords = {"oneOf": [{"required": ["run"]}, {"required": ["turn"]}]}

    run: UUID | UnsetType = UNSET
    turn: UUID | UnsetType = UNSET

    def __post_init__(self) -> None:
        if bool(self.run) == bool(self.turn):
            raise ApiError("field_required", "Name either a run or a turn.", field="run")


class ApproveCommand(ApprovalBody, kw_only=True, tag_field="type", tag="approve"):
    """Decide on a tool call that waits, as POST tool-calls/{tool_call}/approval/ does."""

    tool_call: UUID


class ContinueCommand(Body, tag_field="type", tag="continue"):
    """Let the model go on, in the same message, with an answer that was cut at the output limit (finish_reason length)."""

    run: UUID


class CompressCommand(Body, tag_field="type", tag="compress"):
    """Summarise the older part of the session's current branch."""

    session: UUID


COMMANDS: Final[Mapping[str, type[Body]]] = {
    str(command.__struct_config__.tag): command
    for command in (
        SubscribeCommand,
        UnsubscribeCommand,
        SendCommand,
        StopCommand,
        ApproveCommand,
        ContinueCommand,
        CompressCommand,
        WatchSessionsCommand,
        PingCommand,
    )
}
# Members of every command, which the replies echo.
_COMMON: Final = frozenset({"type", "id", "request_id"})


def decode_frame(text: str) -> Members:
    """Return the whole object, whose `id` errors echo, before validation. Raises ApiError."""
    frame = decode(text)
    command_id = frame.get("id")
    if isinstance(command_id, bool | list | dict) or (isinstance(command_id, str) and len(command_id) > 200):
        raise ApiError("invalid_type", "An id is a text or a number.", field="id")
    return frame


def find_command(frame: Members) -> type[Body]:
    """Return the command of a decoded frame. Raises ApiError."""
    kind = frame.get("type")
    if kind is None:
        raise ApiError("field_required", field="type")
    if not isinstance(kind, str) or kind not in COMMANDS:
        raise ApiError("unknown_type", field="type")
    if not isinstance(frame.get("request_id", ""), str):
        raise ApiError("invalid_type", field="request_id")
    return COMMANDS[kind]


def parse_command(command: type[Body], frame: Members) -> Body:
    """Validate the members of a frame. Raises ApiError. Long ones take milliseconds: in a thread."""
    return command.parse({name: value for name, value in frame.items() if name not in _COMMON})
