"""The world's log and rows on Valkey and Postgres: the interface of the models over the project's functions."""

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import Any

from django.db import connection
from django.db.models.functions import Now
from psycopg.conninfo import make_conninfo

from chat.infrastructure.redis_client import sync_redis
from chat.log.cursor import Cursor, parse_header
from chat.log.stream import (
    APPEND,
    Appended,
    LogSlice,
    append_arguments,
    appended,
    position_now,
    read_now,
    run_log,
)
from chat.models import ChatMessage, Run, Session
from chat.models.outcome import RunOutcome
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from chat.runs.cancellation import stop_run
from chat.runs.completion import announce, commit_end
from chat.sweeper.runs import sweep
from chat.transcript.finish import LENGTH, WHOLE, Finish
from chat.turns.regeneration import continue_answer
from chat.turns.request import TurnBody
from chat.turns.start import start_turn
from tests.faults.history_data import Database, load
from tests.machine.model import Publication, Subscriber
from tests.machine.model_rows import State
from tests.machine.world import World
from web.socket.session_snapshot import LogReplacement, load_replacement

OWNERS = count(1, 2)
PATIENCE_S = 30


class RealLog:
    """The log in Valkey. script: the append script, or a mutant of it."""

    def __init__(self, session: str, run: str, script: str = APPEND) -> None:
        self.log = run_log(session, run)
        self.script = script
        self.subscriptions: dict[Subscriber, Any] = {}

    @property
    def position(self) -> Cursor | None:
        return position_now(self.log)

    def append(self, attempt: int, first: int, lines: list[bytes], base: int) -> Appended:
        command = append_arguments(self.log, attempt, first, lines, base)
        return appended(sync_redis().eval(self.script, 2, *command))

    def read(self, after: Cursor | None) -> LogSlice:
        return read_now(self.log, after)

    def empty(self) -> None:
        sync_redis().delete(self.log.meta, self.log.entries)

    def subscribe(self, notify: Subscriber) -> None:
        """Subscribe; returns when Valkey has confirmed."""
        pubsub: Any = sync_redis().pubsub()
        pubsub.subscribe(self.log.channel)
        assert _next(pubsub)["type"] == "subscribe"
        self.subscriptions[notify] = pubsub

    def unsubscribe(self, notify: Subscriber) -> None:
        pubsub = self.subscriptions.pop(notify, None)
        if pubsub:
            pubsub.close()

    def catch_up(self) -> None:
        """Deliver everything published so far: the messages before the reply to a ping."""
        for notify, pubsub in self.subscriptions.items():
            pubsub.ping()
            while (message := _next(pubsub))["type"] != "pong":
                payload = message["data"]
                end = payload.index(b"\n")
                name, header = parse_header(payload, end)
                if name == self.log.name:
                    notify(Publication(header, payload[end + 1 :].split(b"\n")))

    def close(self) -> None:
        for notify in list(self.subscriptions):
            self.unsubscribe(notify)


class RealRows:
    """One run of a new session of `owner`."""

    def __init__(self, owner: Any) -> None:
        session = Session.objects.start(owner)
        run = start_turn(session, TurnBody(text="Why?")).runs[0]
        self.session, self.run, self.pk = str(session.pk), str(run.pk), run.pk
        self.row = Run.objects.filter(pk=run.pk)
        self.owners: dict[int, int] = {}

    @property
    def state(self) -> State:
        run = self.row.select_related("message").get()
        return State(
            Status(run.status),
            run.attempt,
            run.last_seq,
            run.announced_at is not None,
            run.message.text,
            run.saved_seq,
            run.continuations,
        )

    may_lose_the_log = True

    def claim(self) -> int | None:
        owner = next(OWNERS)
        run = Run.objects.claim(self.pk, owner)
        if run is None:
            return None
        self.owners[run.attempt] = owner
        return run.attempt

    def beat(self, attempt: int) -> Status | None:
        lease = Run.objects.extend_leases(self.owners[attempt], [self.pk]).get(self.pk)
        return Status(lease.status) if lease and lease.attempt == attempt else None

    def expire(self) -> None:
        self.row.filter(lease_until__isnull=False).update(lease_until=Now() - timedelta(seconds=1))

    def checkpoint(self, attempt: int, text: str, seq: int) -> bool:
        saved = self.row.filter(attempt=attempt, status=Status.RUNNING).update(saved_seq=seq)
        if saved:
            ChatMessage.objects.filter(run=self.pk).update(text=text)
        return bool(saved)

    def commit_end(self, attempt: int, status: Status, text: str, last_seq: int) -> bool:
        finish = Finish(LENGTH, 1) if status == Status.COMPLETED else WHOLE
        return commit_end(self.pk, attempt, RunOutcome(status, last_seq=last_seq, text=text, finish=finish))

    def announce(self) -> None:
        announce(self.pk)

    def stop(self) -> None:
        stop_run(self.pk)

    def go_on(self) -> None:
        with suppress(ApiError):
            continue_answer(Run.objects.for_work().get(pk=self.pk))

    def sweep(self) -> None:
        """Sweep as if an end had been committed a minute ago."""
        self.row.filter(ended_at__isnull=False, announced_at__isnull=True).update(
            ended_at=Now() - timedelta(minutes=1)
        )
        sweep(trust_locks=False)

    def load_replacement(self) -> LogReplacement | None:
        return load_replacement(self.run)

    def rows(self) -> Database:
        return load(_database_url(), [self.session])


class UnfencedRows(RealRows):
    def commit_end(self, attempt: int, status: Status, text: str, last_seq: int) -> bool:
        return super().commit_end(self.state.attempt, status, text, last_seq)


def real_world(
    owner: Any, rows: Callable[[Any], RealRows] = RealRows, script: str = APPEND, **mistake: bool
) -> World:
    made = rows(owner)
    return World(RealLog(made.session, made.run, script), made, **mistake)


def _next(pubsub: Any) -> dict[str, Any]:
    message: dict[str, Any] | None = pubsub.get_message(timeout=PATIENCE_S)
    assert message is not None, "no message from Valkey"
    return message


def _database_url() -> str:
    """The URL of the test database."""
    return make_conninfo(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"])
