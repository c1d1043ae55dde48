"""What a socket's client may ask for, checked as strictly as a REST body. Pure but for the ids' parser.

Doing it is consumers.py and, for what changes something, socket_verbs.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from chat.log.cursor import Cursor
from chat.protocol.errors import ApiError
from chat.protocol.strict_json import decode

Members = Mapping[str, Any]
# What Redis and Postgres number with.
_MAX_NUMBER: Final = 2**31 - 1
_MAX_CURSORS: Final = 200


@dataclass(frozen=True)
class Command:
    """type is known, its members are not checked yet. id: echoed in the reply, if the client gave one."""

    type: str
    id: str | int | float | None
    members: Members


@dataclass(frozen=True)
class Subscribe:
    session: UUID
    since: int | None
    cursors: Mapping[UUID, Cursor]


# type -> required and optional members; None: they are checked where they are used.
_MEMBERS: Final[dict[str, tuple[frozenset[str], frozenset[str]] | None]] = {
    "ping": (frozenset(), frozenset()),
    "subscribe": (frozenset({"session"}), frozenset({"since", "cursors"})),
    "unsubscribe": (frozenset({"session"}), frozenset()),
    "watch_sessions": (frozenset(), frozenset()),
    "send": None,
    "stop": (frozenset(), frozenset({"run", "turn"})),
    "approve": (frozenset({"tool_call", "approved"}), frozenset({"note"})),
    "compress": (frozenset({"session"}), frozenset()),
}


def named(text: str) -> tuple[Any, Members]:
    """The command's `id` and the whole object, before anything else is checked: errors echo the id.

    Raises ApiError.
    """
    given = decode(text)
    echo = given.get("id")
    if isinstance(echo, bool | list | dict) or (isinstance(echo, str) and len(echo) > 200):
        raise ApiError("invalid_type", "An id is a text or a number.", field="id")
    return echo, given


def command(echo: Any, given: Members) -> Command:
    kind = given.get("type")
    if kind is None:
        raise ApiError("field_required", field="type")
    if not isinstance(kind, str) or kind not in _MEMBERS:
        raise ApiError("unknown_type", field="type")
    members = {name: value for name, value in given.items() if name not in ("type", "id")}
    expected = _MEMBERS[kind]
    if expected is not None:
        required, optional = expected
        for name in members:
            if name not in required | optional:
                raise ApiError("unknown_field", field=name[:100])
        for name in sorted(required - members.keys()):
            raise ApiError("field_required", field=name)
    return Command(kind, echo, members)


def subscribe(members: Members) -> Subscribe:
    since = members.get("since")
    cursors = members.get("cursors")
    if cursors is None:
        cursors = {}
    if not isinstance(cursors, dict) or len(cursors) > _MAX_CURSORS:
        raise ApiError("invalid_cursor", field="cursors")
    return Subscribe(
        identifier(members, "session"),
        None if since is None else _number(since, "since"),
        {_run(run): _cursor(cursor) for run, cursor in cursors.items()},
    )


def stop(members: Members) -> tuple[Literal["run", "turn"], UUID]:
    """What is to be stopped."""
    if ("run" in members) == ("turn" in members):
        raise ApiError("field_required", "Name either a run or a turn.", field="run")
    noun: Literal["run", "turn"] = "run" if "run" in members else "turn"
    return noun, identifier(members, noun)


def identifier(members: Members, name: str) -> UUID:
    from web.rest.fields import parse_id

    if name not in members:
        raise ApiError("field_required", field=name)
    if not isinstance(members[name], str):
        raise ApiError("invalid_type", field=name)
    found = parse_id(members[name])
    if found is None:
        raise ApiError("invalid_id", field=name)
    return found


def _run(text: str) -> UUID:
    from web.rest.fields import parse_id

    found = parse_id(text)
    if found is None:
        raise ApiError("invalid_cursor", field="cursors")
    return found


def _cursor(given: Any) -> Cursor:
    if not isinstance(given, dict) or given.keys() != {"attempt", "seq"}:
        raise ApiError("invalid_cursor", field="cursors")
    return Cursor(_number(given["attempt"], "cursors"), _number(given["seq"], "cursors"))


def _number(given: Any, name: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= _MAX_NUMBER:
        raise ApiError("invalid_cursor", field=name)
    return given
