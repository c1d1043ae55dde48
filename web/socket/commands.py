"""Parsing and validation of websocket commands, as strict as for REST bodies. No I/O.

Commands are executed by consumer.py and, if they change rows, by handlers.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from chat.log.cursor import Cursor
from chat.protocol.errors import ApiError
from chat.protocol.strict_json import decode
from web.schema.body import parse_id

Members = Mapping[str, Any]
# The largest value of a Postgres integer column.
_MAX_NUMBER: Final = 2**31 - 1
_MAX_CURSORS: Final = 200


@dataclass(frozen=True)
class Command:
    """A command of a known type with known member names, whose values are not validated yet.

    id: echoed in the reply, if the client sent one. has_request_id: whether the client sent a request_id, which the
    reply then has.
    """

    type: str
    id: str | int | float | None
    members: Members
    has_request_id: bool = False


@dataclass(frozen=True)
class SubscribeCommand:
    """A subscription to a session.
    since: n of the latest session event that the client has. cursors: the latest packet that it has, by run.
    """

    session: UUID
    since: int | None
    cursors: Mapping[UUID, Cursor]


# Members of every command.
_COMMON: Final = frozenset({"type", "id", "request_id"})
# type -> required and optional members; None: the handler validates them.
_MEMBERS: Final[dict[str, tuple[frozenset[str], frozenset[str]] | None]] = {
    "ping": (frozenset(), frozenset()),
    "subscribe": (frozenset({"session"}), frozenset({"since", "cursors"})),
    "unsubscribe": (frozenset({"session"}), frozenset()),
    "watch_sessions": (frozenset(), frozenset()),
    "send": None,
    "stop": (frozenset(), frozenset({"run", "turn"})),
    "approve": (frozenset({"tool_call", "approved"}), frozenset({"note", "arguments", "remember", "values"})),
    "continue": (frozenset({"run"}), frozenset()),
    "compress": (frozenset({"session"}), frozenset()),
}


def decode_frame(text: str) -> tuple[Any, Members]:
    """Return the command's `id` and the whole object, before validation: errors echo the id. Raises ApiError."""
    frame = decode(text)
    command_id = frame.get("id")
    if isinstance(command_id, bool | list | dict) or (isinstance(command_id, str) and len(command_id) > 200):
        raise ApiError("invalid_type", "An id is a text or a number.", field="id")
    return command_id, frame


def parse_command(command_id: Any, frame: Members) -> Command:
    """Check the type and the names of the members. Raises ApiError."""
    kind = frame.get("type")
    if kind is None:
        raise ApiError("field_required", field="type")
    if not isinstance(kind, str) or kind not in _MEMBERS:
        raise ApiError("unknown_type", field="type")
    if not isinstance(frame.get("request_id", ""), str):
        raise ApiError("invalid_type", field="request_id")
    members = {name: value for name, value in frame.items() if name not in _COMMON}
    expected = _MEMBERS[kind]
    if expected is not None:
        required, optional = expected
        for name in members:
            if name not in required | optional:
                raise ApiError("unknown_field", field=name[:100])
        for name in sorted(required - members.keys()):
            raise ApiError("field_required", field=name)
    return Command(kind, command_id, members, "request_id" in frame)


def parse_subscribe(members: Members) -> SubscribeCommand:
    since = members.get("since")
    cursors = members.get("cursors")
    if cursors is None:
        cursors = {}
    if not isinstance(cursors, dict) or len(cursors) > _MAX_CURSORS:
        raise ApiError("invalid_cursor", field="cursors")
    return SubscribeCommand(
        parse_member_id(members, "session"),
        None if since is None else _parse_number(since, "since"),
        {_parse_run(run): _parse_cursor(cursor) for run, cursor in cursors.items()},
    )


def parse_stop(members: Members) -> tuple[Literal["run", "turn"], UUID]:
    """Return the kind and the id of what to stop. Raises ApiError unless the command names exactly one."""
    if ("run" in members) == ("turn" in members):
        raise ApiError("field_required", "Name either a run or a turn.", field="run")
    noun: Literal["run", "turn"] = "run" if "run" in members else "turn"
    return noun, parse_member_id(members, noun)


def parse_member_id(members: Members, name: str) -> UUID:
    """Return the UUID of a required member. Raises ApiError."""
    if name not in members:
        raise ApiError("field_required", field=name)
    if not isinstance(members[name], str):
        raise ApiError("invalid_type", field=name)
    parsed = parse_id(members[name])
    if parsed is None:
        raise ApiError("invalid_id", field=name)
    return parsed


def _parse_run(text: str) -> UUID:
    run = parse_id(text)
    if run is None:
        raise ApiError("invalid_cursor", field="cursors")
    return run


def _parse_cursor(value: object) -> Cursor:
    if not isinstance(value, dict) or value.keys() != {"attempt", "seq"}:
        raise ApiError("invalid_cursor", field="cursors")
    return Cursor(_parse_number(value["attempt"], "cursors"), _parse_number(value["seq"], "cursors"))


def _parse_number(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_NUMBER:
        raise ApiError("invalid_cursor", field=name)
    return value
