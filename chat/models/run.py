"""Run: one model's execution of a turn: its claim, its lease, its end."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from django.db import models
from django.db.models import Count, Q, Sum, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, TruncDate

from chat.models.lease import RUN_LEASE, Leased, LeasedQuerySet
from chat.models.message import ChatMessage
from chat.models.model_config import ModelConfig
from chat.models.sql import runs, statements
from chat.models.turn import STANDING, Standing, Turn
from chat.protocol.states import HELD, LIVE, TERMINAL, Status, sources
from chat.protocol.tasks import DEFAULT_QUEUE

# What an upstream reports of a run.
USAGE = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")


class RunQuerySet(LeasedQuerySet["Run"]):
    # Mutators: each one UPDATE; the count of changed rows is the answer

    def move(self, to: Status, why: str = "", **fields: Any) -> int:
        """Take the selected rows to `to` where the state machine allows it; returns how many moved.

        why: for the history; empty: nothing more to say.
        """
        moved = self.filter(status__in=sources(to))
        return moved.update(status=to, history=_noted(to, why), **fields)

    def claim(self, run_id: Any, owner: int) -> Run | None:
        """Take a queued run, or one whose lease has expired; None if somebody else has it or it has ended.

        One UPDATE on the database clock, so of any number of deliveries exactly one gets the run.
        """
        return self.claim_and_read(run_id, owner)[0]

    def claim_and_read(
        self, run_id: Any, owner: int, *asked: statements.Asked
    ) -> tuple[Run | None, list[list[Any]]]:
        """claim(), and in the same round trip what is asked besides; its rows are no use if the run was not claimed.

        All of it or nothing: where the reading fails the run is not claimed.
        """
        given = {"run": run_id, "owner": owner, "lease": RUN_LEASE.lease}
        claimed, *read = statements.together((runs.CLAIM, given), *asked)
        return self._claimed(claimed[0]) if claimed else None, read

    def _claimed(self, row: Any) -> Run:
        width = len(runs.CLAIMED)
        run = statements.instance(self.model, runs.CLAIMED, row[:width])
        run.left = row[width]
        run.turn, run.model_config = runs.turn_of(row)
        return run

    def stop(self, run_id: Any) -> uuid.UUID | None:
        """Ask for a stop of a run that a worker has; the session it belongs to. None: no worker has it, or it has been
        asked for already."""
        stopping = statements.first(runs.STOP, {"run": run_id})
        session: uuid.UUID | None = stopping[0] if stopping else None
        return session

    def end(self, run_id: Any, attempt: int, status: Status, **given: Any) -> bool:
        """Save the end and the answer of that attempt. False: the state machine forbids it, or it is another attempt.

        given: every parameter of run_statements.END but the ones above.
        """
        given |= {"run": run_id, "attempt": attempt, "status": status.value}
        return statements.first(runs.END, given) is not None

    def announce(self, run_id: Any) -> tuple[uuid.UUID, Standing | None] | None:
        """Mark an ended run as announced, under its session's lock; returns the session, and the run's turn as it
        stands then, unless that has ended. None: the run is gone.

        In a transaction. The turn is read after the lock, so that of two runs that end together the second sees the
        first.
        """
        given = {"run": run_id}
        held, standing = statements.together((runs.ANNOUNCE, given), (STANDING, given))
        return (held[0][0], Standing(*standing[0]) if standing else None) if held else None

    # Queries

    def visible_to(self, user: Any) -> Self:
        return self.filter(turn__session__owner=user)

    def used(self, since: datetime, until: datetime) -> Any:
        """What ended in between, by UTC day and model, oldest day first: runs, and `used_` tokens and cost."""
        ended = self.filter(ended_at__gte=since, ended_at__lte=until, is_imported=False)
        by_day = ended.annotate(day=TruncDate("ended_at", tzinfo=UTC)).values("day", "model")
        tokens = {f"used_{name}": Coalesce(Sum(name), 0) for name in USAGE}
        return by_day.annotate(runs=Count("pk"), used_cost=Sum("cost"), **tokens).order_by("day", "model")

    def live(self) -> Self:
        return self.filter(status__in=LIVE)

    def unblocked(self) -> Self:
        """Without those whose turn waits for another one to end."""
        return self.filter(Q(turn__after__isnull=True) | Q(turn__after__ended_at__isnull=False))

    def for_work(self) -> Self:
        return self.select_related("turn__session", "turn__user_message", "message", "model_config")


class Run(Leased):
    lease_times = RUN_LEASE
    held_statuses = sorted(HELD)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="runs")
    message = models.OneToOneField(ChatMessage, on_delete=models.CASCADE, related_name="run")
    model_config = models.ForeignKey(
        ModelConfig, null=True, on_delete=models.SET_NULL, related_name="runs", verbose_name="model"
    )
    model = models.CharField(
        max_length=200, help_text="The model's name, kept when its configuration is deleted."
    )
    model_index = models.SmallIntegerField()
    forced_tool = models.CharField(max_length=64, blank=True, default="")
    dynamic_context = models.TextField(blank=True, default="")

    status = models.CharField(max_length=9, choices=[(s, s) for s in Status], default=Status.QUEUED)
    deadline = models.DateTimeField()

    created_at = models.DateTimeField(auto_now_add=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    # The seq of `stop`, set in the transaction that ends the run; announced_at once `stop` is in the log.
    last_seq = models.IntegerField(null=True, blank=True)
    announced_at = models.DateTimeField(null=True, blank=True)
    # message.text holds everything up to this seq of the current attempt.
    saved_seq = models.IntegerField(default=0)

    error_code = models.CharField(max_length=40, blank=True, default="")
    error_message = models.TextField(blank=True, default="")
    error_retryable = models.BooleanField(default=False)
    prompt_tokens = models.IntegerField(null=True, blank=True)
    completion_tokens = models.IntegerField(null=True, blank=True)
    cached_tokens = models.IntegerField(null=True, blank=True)
    reasoning_tokens = models.IntegerField(null=True, blank=True)
    # By the model's prices when it ended; null: some price is unknown.
    cost = models.DecimalField(max_digits=18, decimal_places=9, null=True, blank=True)
    # Executed elsewhere: shown, but not counted as used here.
    is_imported = models.BooleanField(default=False, db_default=False)
    time_to_first_token_ms = models.IntegerField(null=True, blank=True)
    # How long the message's reasoning was written.
    reasoning_ms = models.IntegerField(null=True, blank=True)
    # What became of it, oldest first: {at, to (a status), attempt, owner, why}, the last two only where there is one.
    # Written by the statement that moves the run. That it was made is not in it.
    history = models.JSONField(
        default=list, db_default=Value([], output_field=models.JSONField()), editable=False
    )
    cycles = models.SmallIntegerField(default=0)

    left: timedelta  # until the deadline, on the database's clock; only of what claim() returns

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ("created_at", "model_index")
        indexes = [
            models.Index(
                fields=["status", "lease_until"], name="run_live", condition=Q(status__in=sorted(LIVE))
            ),
            models.Index(
                fields=["ended_at"],
                name="run_unannounced",
                condition=Q(ended_at__isnull=False, announced_at__isnull=True),
            ),
            # What staff look through: the newest, what ended in between, what failed, what was taken over.
            models.Index(fields=["created_at"], name="run_by_age"),
            models.Index(fields=["ended_at"], name="run_by_end"),
            models.Index(
                fields=["error_code", "created_at"], name="run_by_error", condition=~Q(error_code="")
            ),
            models.Index(fields=["created_at"], name="run_taken_over", condition=Q(failures__gt=0)),
        ]
        constraints = [
            models.UniqueConstraint(fields=["turn", "model_index"], name="one_answer_per_turn_and_model"),
            models.CheckConstraint(condition=Q(status__in=list(Status)), name="run_status_known"),
            models.CheckConstraint(
                condition=Q(attempt__gte=0, failures__gte=0), name="run_counts_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(status__in=sorted(TERMINAL), ended_at__isnull=False, last_seq__isnull=False)
                | (~Q(status__in=sorted(TERMINAL)) & Q(ended_at__isnull=True, last_seq__isnull=True)),
                name="run_has_an_end_iff_terminal",
            ),
            models.CheckConstraint(
                condition=~Q(status="running")
                | Q(owner__isnull=False, lease_until__isnull=False, attempt__gte=1),
                name="running_run_has_a_lease",
            ),
            models.CheckConstraint(
                condition=Q(status="failed") | Q(error_code=""), name="only_failed_runs_have_an_error"
            ),
            models.CheckConstraint(
                condition=Q(announced_at__isnull=True) | Q(ended_at__isnull=False),
                name="announced_after_the_end",
            ),
            models.CheckConstraint(
                condition=Q(cost__isnull=True) | Q(cost__gte=0), name="run_cost_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk} ({self.model})"

    # Properties

    @property
    def expires_in_s(self) -> float:
        """Seconds it had left when claim() returned it, not negative."""
        return max(0.0, self.left.total_seconds())

    @property
    def queue(self) -> str:
        """Of the workers that may execute it; joins model_config."""
        return self.model_config.queue if self.model_config else DEFAULT_QUEUE

    @property
    def is_live(self) -> bool:
        return self.status in LIVE


def _noted(to: Status, why: str) -> RawSQL:
    entry = runs.noted("%s", "attempt", "NULLIF(%s, '')")
    return RawSQL(entry, [to.value, why], output_field=models.JSONField())  # noqa: S611  no values
