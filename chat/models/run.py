"""Run: one model's execution of a turn, moved by the state machine of chat/protocol/states.py."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Subquery, Value, When
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce

from chat.models.lease import RUN_LEASE, Leased
from chat.models.message import ChatMessage
from chat.models.model_config import ModelConfig
from chat.models.run_fields import (
    KnowledgeAccess,
    RunKnowledge,
    RunKnowledgeFields,
    RunSpendingFields,
    RunUsage,
    UpstreamFailureFields,
    spending_columns,
)
from chat.models.run_options import RunOptionsFields, options_are_known
from chat.models.session import Session
from chat.models.sql import claims, runs
from chat.models.sql.statements import instance, together
from chat.models.sql.turns import READ_STATE, TurnState
from chat.models.turn import Turn
from chat.protocol.states import HELD, LIVE, TERMINAL, Status, sources
from chat.protocol.tasks import DEFAULT_QUEUE
from chat.transcript.finish import WHOLE, Finish
from chat.transcript.usage import RunSpending, TokenUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

# A run that is claimed within this time did not wait for a slot. So no other run waits for one: none has to be chosen.
MAX_FRESH_WAIT = timedelta(milliseconds=250)


class RunQuerySet(RunUsage["Run"]):
    # Mutators: one statement each

    def move(self, to: Status, why: str = "", **fields: Any) -> int:
        """Move the selected rows to `to` where the state machine allows it; returns how many moved.

        why: for the history; may be empty.
        """
        movable = self.filter(status__in=sources(to))
        return movable.update(status=to, history=_history_with(to, why), **fields)

    def claim(self, run_id: UUID | str, owner: int) -> Run | None:
        """Claim a queued run, or one whose lease has expired; None if another worker has or takes it, or it has ended.

        One UPDATE on the database's clock, so exactly one of any number of deliveries gets the run. Does not wait for
        a row that is locked.
        """
        claimed = runs.CLAIM.first(run=run_id, owner=owner, lease=RUN_LEASE.lease)
        return self._claimed(claimed) if claimed else None

    def claim_fairly(self, run_id: UUID | str, queue: str, owner: int) -> Run | None:
        """Claim a waiting run of this queue: a delivery of `run_id` means that a slot is free for one of them.

        Claims the named run if it has hardly waited; else a run of the user with the fewest held runs, which may be
        another run. None: nothing waits.
        """
        given = {"run": run_id, "owner": owner, "lease": RUN_LEASE.lease}
        claimed = claims.CLAIM_FRESH.first(**given, fresh=MAX_FRESH_WAIT)
        if claimed is None:
            claimed = claims.CLAIM_FAIREST.first(**given, queue=queue)
        return self._claimed(claimed) if claimed else None

    def read_queue_positions(self, run_ids: Sequence[UUID]) -> dict[str, int]:
        """Return the positions of the queued runs among `run_ids`; 1 is the next run of its Celery queue.

        Runs of turns that wait for another turn come after all runs that wait for a worker.
        """
        return {str(row.run): row.place for row in claims.QUEUE_POSITIONS.all(runs=run_ids)}

    def _claimed(self, row: runs.ClaimedRun) -> Run:
        run = instance(self.model, row.run)
        run.time_left = row.time_left
        run.turn = instance(Turn, row.turn)
        run.turn.session = instance(Session, row.session)
        run.model_config = instance(ModelConfig, row.model) if row.model else None
        return run

    def line_up(self, **fields: Any) -> None:
        """Set what a claim chooses by in the selected live runs, and other fields with it."""
        owner = Session.with_trash.filter(turns__runs=OuterRef("pk")).values("owner_id")
        queue = ModelConfig.objects.filter(pk=OuterRef("model_config")).values("queue")
        is_ready = Exists(self.model.objects.unblocked().filter(pk=OuterRef("pk")))
        ready_queue = Case(When(is_ready, then=Coalesce(Subquery(queue), Value(DEFAULT_QUEUE))))
        self.update(asker_id=Subquery(owner), ready_queue=ready_queue, **fields)

    def stop(self, run_id: UUID | str) -> runs.StoppedRun | None:
        """Move a run that a worker holds to `stopping`. None: not held, or stopping already."""
        return runs.STOP.first(run=run_id)

    def spend(self, run_id: UUID | str, spent: RunSpending) -> None:
        """Store what the run has used by now. The caller has locked its row for its attempt."""
        runs.SPEND.first(run=run_id, **spending_columns(spent))

    def queue_again(
        self, run_id: UUID | str, dynamic_context: str, knowledge: RunKnowledge, token: UUID | None
    ) -> bool:
        """Queue an ended run again, and reopen its turn, if its answer has a text and no replies.

        dynamic_context, knowledge, token (the API token): as they are now. The caller has seen, under the session's lock,
        that it may go on.
        """
        context = {"dynamic_context": dynamic_context, "token": token, **knowledge._asdict()}
        limit = timedelta(seconds=settings.RUN_DEADLINE_S)
        return runs.GO_ON.first(run=run_id, limit=limit, **context) is not None

    def announce(self, run_id: UUID | str) -> tuple[runs.AnnouncedRun, TurnState | None] | None:
        """Mark an ended run as announced, under its session's lock; returns what was announced, and how its turn stands
        then, unless the turn has ended. None: the run was deleted.

        In a transaction. The turn is read after the lock is taken, so that the second of two runs that end together
        sees the first.
        """
        announced, states = together(runs.ANNOUNCE.query(run=run_id), READ_STATE.query(run=run_id))
        return (announced[0], states[0] if states else None) if announced else None

    # Queries

    def visible_to(self, user: User) -> Self:
        return self.owned_by(user).filter(turn__session__deleted_at=None)

    def owned_by(self, user: User) -> Self:
        """Select the user's runs, also those in the trash: what they have used, or hold, counts."""
        return self.filter(turn__session__owner=user)

    def live(self) -> Self:
        return self.filter(status__in=LIVE)

    def abandoned(self) -> Self:
        """Select live runs, not stopping, of deactivated users or in the trash.

        The newest come first, so that the end of one starts none of the others.
        """
        unread = Q(turn__session__owner__is_active=False) | Q(turn__session__deleted_at__isnull=False)
        return self.live().exclude(status=Status.STOPPING).filter(unread).order_by("-turn__created_at")

    def of_disabled_models(self) -> Self:
        """Select live runs, not stopping, whose model or its provider staff have disabled.

        The newest come first, so that the end of one starts none of the others.
        """
        disabled = self.live().exclude(status=Status.STOPPING).filter(self.model.is_withdrawn)
        return disabled.order_by("-turn__created_at")

    def strays(self) -> Self:
        """Select live runs that the version before has stored, and those that wait unclaimed while the indexes of claims
        hold them in another queue, or in none.
        """
        queue = Coalesce(F("model_config__queue"), Value(DEFAULT_QUEUE))
        misplaced = self.unblocked().unclaimed().exclude(ready_queue=queue).values("pk")
        return self.live().filter(Q(asker_id=None) | Q(pk__in=misplaced))

    def unblocked(self) -> Self:
        """Select runs whose turn does not wait for another turn to end."""
        return self.filter(Q(turn__after__isnull=True) | Q(turn__after__ended_at__isnull=False))

    def for_work(self) -> Self:
        """Join the rows that executing or ending a run needs."""
        return self.select_related("turn__session", "turn__user_message", "message", "model_config")


class Run(UpstreamFailureFields, RunSpendingFields, RunOptionsFields, RunKnowledgeFields, Leased):
    lease_times = RUN_LEASE
    held_statuses = sorted(HELD)
    is_withdrawn = Q(model_config__enabled=False) | Q(model_config__provider__is_enabled=False)

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
    # What a claim chooses by, copied for the indexes of live runs: its session's owner, and the queue whose workers may
    # claim it now, NULL while its turn waits for another one. NULL in a run of a process of the version before, until
    # line_up(); its own message claims it as well.
    asker_id = models.BigIntegerField("user", null=True, editable=False)
    ready_queue = models.CharField(max_length=50, null=True, editable=False)  # noqa: DJ001  NULL: not ready
    # How often the user continued it after it was cut; each continuation also took an attempt.
    continuations = models.SmallIntegerField(default=0, db_default=0)

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
    # The part of the prompt and completion tokens that the server did not report.
    estimated_tokens = models.IntegerField(null=True, blank=True)
    # At the model's prices when it ended; null: a price is unknown.
    cost = models.DecimalField(max_digits=18, decimal_places=9, null=True, blank=True)
    # Executed by another installation: shown, but not counted as usage.
    is_imported = models.BooleanField(default=False, db_default=False)
    time_to_first_token_ms = models.IntegerField(null=True, blank=True)
    # Between the first and the last token of the message's reasoning.
    reasoning_ms = models.IntegerField(null=True, blank=True)
    # Its moves, oldest first: {at, to (a status), attempt, owner, why}, the last two where there are any. Written by
    # the statement that moves the run; its creation is not in it.
    history = models.JSONField(
        default=list, db_default=Value([], output_field=models.JSONField()), editable=False
    )
    cycles = models.SmallIntegerField(default=0)
    # The finish of the last inference; see chat/transcript/finish.py.
    finish_reason = models.CharField(max_length=40, blank=True, default="", db_default="")
    finish_tokens = models.IntegerField(null=True, blank=True)
    # How its latest request filled the window: llm_worker/records/context_usage.py. Null: none was sent here.
    context_usage = models.JSONField(null=True, blank=True, editable=False)

    # Until the deadline, on the database's clock; set by claim() and claim_fairly() alone.
    time_left: timedelta

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ("created_at", "model_index")
        indexes = [
            models.Index(
                fields=["status", "lease_until"], name="run_live", condition=Q(status__in=sorted(LIVE))
            ),
            models.Index(fields=["asker_id"], name="run_live_of_user", condition=Q(status__in=sorted(LIVE))),
            # For claims: the runs that wait for a worker, and each user's first one.
            models.Index(
                fields=["ready_queue", "queued_at", "id"],
                name="run_ready",
                condition=Q(status=Status.QUEUED),
            ),
            models.Index(
                fields=["ready_queue", "asker_id", "queued_at", "id"],
                name="run_ready_of_user",
                condition=Q(status=Status.QUEUED),
            ),
            models.Index(
                fields=["ended_at"],
                name="run_unannounced",
                condition=Q(ended_at__isnull=False, announced_at__isnull=True),
            ),
            # For the admin: the newest runs, those that ended in a period, failed, or were taken over.
            models.Index(fields=["created_at"], name="run_by_age"),
            models.Index(fields=["ended_at"], name="run_by_end"),
            models.Index(
                fields=["error_code", "created_at"], name="run_by_error", condition=~Q(error_code="")
            ),
            models.Index(fields=["created_at"], name="run_taken_over", condition=Q(failures__gt=0)),
        ]
        constraints = [
            options_are_known("run"),
            models.UniqueConstraint(fields=["turn", "model_index"], name="one_answer_per_turn_and_model"),
            models.CheckConstraint(condition=Q(status__in=list(Status)), name="run_status_known"),
            models.CheckConstraint(
                condition=Q(knowledge_access__in=["", *KnowledgeAccess.values]), name="run_access_known"
            ),
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
        """Return the seconds until the deadline when the run was claimed, not negative."""
        return max(0.0, self.time_left.total_seconds())

    @property
    def queue(self) -> str:
        """Return the Celery queue of the workers that may execute it; joins model_config."""
        return self.model_config.queue if self.model_config else DEFAULT_QUEUE

    @property
    def usage(self) -> TokenUsage:
        return TokenUsage(*(getattr(self, name) for name in TokenUsage._fields))

    @property
    def finish(self) -> Finish:
        return Finish(self.finish_reason, self.finish_tokens)

    @property
    def visible_finish(self) -> Finish:
        """Return the finish that readers see: WHOLE for a failed run, unless it is a continuation, to be tried again."""
        return WHOLE if self.status == Status.FAILED and not self.continuations else self.finish

    @property
    def may_go_on(self) -> bool:
        """Whether the model could go on with the text: it was cut at the output limit, stopped, or broke off."""
        if self.is_live or self.finish.is_cut:
            return self.finish.is_cut_at_limit and not self.is_live
        broke_off = self.error_retryable or self.continuations > 0
        return self.status == Status.STOPPED or (self.status == Status.FAILED and broke_off)

    @property
    def is_live(self) -> bool:
        return self.status in LIVE


def run_of(message: ChatMessage) -> Run | None:
    """Return the run that writes or wrote this message; None for user messages, edited answers, summaries, the root."""
    run: Run | None = getattr(message, "run", None)
    return run


def _history_with(to: Status, why: str) -> RawSQL:
    entry = runs.history_with("%s", "attempt", "NULLIF(%s, '')")
    return RawSQL(entry, [to.value, why], output_field=models.JSONField())  # noqa: S611  no values
