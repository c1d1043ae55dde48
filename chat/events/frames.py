"""Frames that sockets receive without having asked, besides those of the packet log (chat/protocol/wire.py).

The AsyncAPI document is generated from them; docstrings are its summaries. Frames of a session are recorded as
payloads (session_events.py), to which `type`, `session` and `n` are added.
"""

from typing import Annotated
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType

from chat.presenters.files import FileAnswer
from chat.presenters.runs import RunContinued, StartedAnswer
from chat.presenters.sessions import ChangedSession, ListedSession
from chat.protocol.answer import Id, choice, doc
from chat.protocol.wire import StopReason

# --- Of a session, to its subscribers -------------------------------------------------------------------------


class TurnStarted(StartedAnswer, tag_field="type", tag="turn_started"):
    """A turn has been started."""

    session: UUID
    n: int


class RunContinuedFrame(RunContinued, tag_field="type", tag="run_continued"):
    """An ended run goes on: a snapshot of a newer attempt with the text so far follows, then more packets, another
    `stop`, and another `overall_stop` of its turn."""

    session: UUID
    n: int


class OverallStop(Struct, tag_field="type", tag="overall_stop"):
    """All runs of the turn have ended."""

    session: UUID
    n: int
    turn: UUID
    stop_reason: StopReason


class CompressionFrame(Struct, tag_field="type", tag="compression"):
    """A compression has begun or ended, or a summary was deleted."""

    session: UUID
    n: int
    status: Annotated[str, choice(["started", "done", "failed", "deleted"])]
    tokens_before: int | UnsetType = UNSET
    tokens_after: int | UnsetType = UNSET


class SessionFrame(ChangedSession, tag_field="type", tag="session"):
    """The session's title, agent, project, models, current branch or another member has changed. Events of earlier
    releases lack members."""

    session: UUID
    n: int


class Resync(Struct, tag_field="type", tag="resync"):
    """Events after `since` are lost or no longer stored; read the session by REST and continue after n."""

    session: Id
    n: int


class Queued(Struct, tag_field="type", tag="queued"):
    """The run has waited for more than a second, in its queue or for a model server that takes few requests at once.
    Not part of the log."""

    run: Id
    position: Annotated[int | None, doc("From 1; null: it waits no longer, and nothing else was sent since.")]


class Heartbeat(Struct, tag_field="type", tag="heartbeat"):
    """The run is in progress but has produced nothing for 15 s. Not part of the log."""

    run: Id


# --- Of a user's lists, to sockets that watch them ------------------------------------------------------------


class SessionChanged(ListedSession, tag_field="type", tag="session_changed"):
    """A session as the list presents it now; it may be new. Ignore one with a smaller n than the client has."""

    session: UUID


class SessionDeleted(Struct, tag_field="type", tag="session_deleted"):
    """A session was deleted, into the trash or for good. `session_changed` follows if it is restored."""

    session: UUID


class SessionsResync(Struct, tag_field="type", tag="sessions_resync"):
    """Changes may have been missed; read the lists of sessions and projects again."""


class ProjectChanged(Struct, tag_field="type", tag="project_changed"):
    """A project was created, or its name, instructions or files have changed; read it again."""

    project: UUID


class ProjectDeleted(Struct, tag_field="type", tag="project_deleted"):
    """A project was deleted. Its sessions and files belong to no project any more."""

    project: UUID


class TagChanged(Struct, tag_field="type", tag="tag_changed"):
    """A tag was renamed or removed in all sessions of the user; no other message follows for each session. A session
    that had both tags keeps one."""

    tag: Annotated[str, doc("However it is capitalised.")]
    name: Annotated[str | None, doc("Null: it was removed.")]


class KnowledgeBaseChanged(Struct, tag_field="type", tag="knowledge_base_changed"):
    """A knowledge base that the user is a member of was created, or its fields, members or documents have changed, or a
    document became searchable or failed; read it again. Restricted members are told only of changes that they see, and
    members who have not accepted are told of none."""

    knowledge_base: UUID


class KnowledgeBaseDeleted(Struct, tag_field="type", tag="knowledge_base_deleted"):
    """A knowledge base was deleted, or the user is not a member of it any more."""

    knowledge_base: UUID


# --- To every socket of a user -------------------------------------------------------------------------------


class FileFrame(FileAnswer, tag_field="type", tag="file"):
    """A file was stored (`processing`), or its text has been extracted (`ready`) or not (`failed`). One of the latter
    two is sent for each file, once. The members are those of `GET files/{id}/`."""


class ModelsChanged(Struct, tag_field="type", tag="models_changed"):
    """The offered models or their limits have changed; read `GET models/` again."""
