"""The values that history.py checks: received frames, database rows and upstream calls. Only load() does I/O."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg
from psycopg.rows import dict_row

Frame = dict[str, Any]
Row = dict[str, Any]

TABLES: Final = {
    "runs": "chat_run",
    "messages": "chat_chatmessage",
    "turns": "chat_turn",
    "events": "chat_sessionevent",
}


@dataclass
class SocketLog:
    """One websocket connection: every received frame with its time, oldest first.

    cursors, since: what the client subscribed with (run -> {attempt, seq}; session -> n).
    open_at_end: it was still subscribed after everything had ended, so it must have received every end.
    """

    frames: Sequence[tuple[float, Frame]]
    cursors: dict[str, Frame] = field(default_factory=dict)
    since: dict[str, int] = field(default_factory=dict)
    open_at_end: bool = False


@dataclass
class ClientLog:
    """The successive connections of one client, which keeps its state across them."""

    name: str
    sockets: list[SocketLog]


@dataclass
class Database:
    """Rows as dicts by column name. Ids may be UUIDs or strings; they are stored as strings."""

    runs: list[Row] = field(default_factory=list)
    messages: list[Row] = field(default_factory=list)
    turns: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        for rows in (self.runs, self.messages, self.turns, self.events):
            for row in rows:
                _plain_ids(row)


@dataclass
class History:
    """Everything observed during a test, after every accepted turn had time to end.

    Upstream calls are matched to runs by model and question, so questions should be unique.
    """

    clients: list[ClientLog]
    database: Database
    # tests/upstream.py `Received`, or the same as dicts (GET /requests).
    upstream: Sequence[Any] = ()
    # Bodies of the responses to sends, with `client_message_id` and `session` added where the test knows them.
    accepted: Sequence[Frame] = ()
    # run -> time of the stop request, on the clock of the frames.
    stops: dict[str, float] = field(default_factory=dict)
    # Times of injected faults, on the clock of the frames, oldest first.
    faults: Sequence[float] = ()


@dataclass(frozen=True)
class Violation:
    """A violated guarantee: its number, the ids of what it concerns (client, run, turn …), and the evidence."""

    invariant: str
    ids: dict[str, str]
    evidence: str

    def __str__(self) -> str:
        whose = " ".join(f"{name}={value}" for name, value in self.ids.items())
        return f"{self.invariant} {whose}: {self.evidence}"


def load(database_url: str, sessions: Collection[Any] | None = None) -> Database:
    """Load the rows of these sessions, or of all sessions."""
    with psycopg.connect(database_url, row_factory=dict_row) as connection:
        tables = {
            name: connection.execute(f"SELECT * FROM {table}").fetchall()  # type: ignore[arg-type]
            for name, table in TABLES.items()
        }
    return of_sessions(Database(**tables), sessions)


def of_sessions(database: Database, sessions: Collection[Any] | None) -> Database:
    if sessions is None:
        return database
    wanted = {str(session) for session in sessions}
    turns = [row for row in database.turns if row["session_id"] in wanted]
    turn_ids = {row["id"] for row in turns}
    return Database(
        runs=[row for row in database.runs if row["turn_id"] in turn_ids],
        messages=[row for row in database.messages if row["session_id"] in wanted],
        turns=turns,
        events=[row for row in database.events if row["session_id"] in wanted],
    )


def _plain_ids(row: Row) -> None:
    for name, value in row.items():
        if value is not None and (name == "id" or name.endswith("_id")):
            row[name] = str(value)
