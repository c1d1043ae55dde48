"""The replies of the socket to commands.
The AsyncAPI document is generated from these Structs; their docstrings are its summaries.
"""

from typing import Annotated
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from chat.presenters.runs import StartedRunAnswer
from chat.protocol.answer import Id, choice, doc
from chat.protocol.states import Status
from chat.turns.approvals import DECISIONS
from web.rest.errors import ErrorMembers

Echo = Annotated[
    str | float | UnsetType | None,
    Meta(description="The command's, which its reply echoes.", extra_json_schema={"maxLength": 200}),
]
RequestId = Annotated[
    str | UnsetType,
    doc("Of the command, in logs of all processes and in the admin: the client's, or a new one."),
]


class Reply(Struct, kw_only=True):
    id: Echo = UNSET
    request_id: RequestId = UNSET


class SubscribedRun(Struct):
    run: Id
    turn: Id
    message: Id
    model: str
    model_index: int
    status: Annotated[str, choice(Status)]
    attempt: int
    seq: int


class Subscribed(Reply, kw_only=True, tag_field="type", tag="subscribed"):
    """Runs in progress and those named in cursors; their packets follow."""

    session: Id
    n: int
    runs: list[SubscribedRun]


class Unsubscribed(Reply, kw_only=True, tag_field="type", tag="unsubscribed"):
    """No more frames of the session follow."""

    session: UUID


class Accepted(Reply, kw_only=True, tag_field="type", tag="accepted"):
    """The command was executed; the message and runs of a send are committed."""

    turn: UUID | UnsetType = UNSET
    user_message: UUID | UnsetType = UNSET
    runs: list[StartedRunAnswer] | UnsetType = UNSET
    run: UUID | UnsetType = UNSET
    message: UUID | UnsetType = UNSET
    attempt: int | UnsetType = UNSET
    tool_call: UUID | UnsetType = UNSET
    decision: Annotated[str | UnsetType, choice(DECISIONS)] = UNSET
    status: Annotated[
        str | UnsetType,
        doc(
            "In the reply to compress, queued or nothing_to_compress; in the reply to continue, that of the run."
        ),
    ] = UNSET


class Stopping(Reply, kw_only=True, tag_field="type", tag="stopping"):
    """The run, or all runs of the turn, are stopped."""

    run: UUID | UnsetType = UNSET
    turn: UUID | UnsetType = UNSET
    status: Annotated[str | UnsetType, choice(Status)] = UNSET


class Pong(Reply, tag_field="type", tag="pong"):
    """The socket works."""


class SessionsWatched(Reply, tag_field="type", tag="sessions_watched"):
    """Every change from now on is pushed."""


class ErrorFrame(ErrorMembers, kw_only=True, tag_field="type", tag="error"):
    """A command was rejected; the socket stays open."""

    id: Echo = UNSET
    request_id: RequestId = UNSET
