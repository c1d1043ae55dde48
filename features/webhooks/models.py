"""Webhook: a URL that is told when answers of its owner have ended, or ask for approvals. WebhookDelivery: an event that it is still to be told.

A delivery is written with what it tells, so that no crash loses it, and is deleted when it has arrived.
"""

from __future__ import annotations

import base64
import secrets
import uuid
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Now

from chat.infrastructure import encryption
from chat.models.sql.statements import Statement
from knowledge.fetching.target import MAX_URL_CHARACTERS
from knowledge.models.owned_row import OwnedQuerySet, OwnedRow

SIGNING_PREFIX: Final = "whsec_"
SECRET_BYTES: Final = 32
# Between the attempts at one delivery: the last one comes after a bit more than a day.
RETRY_DELAYS: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=10),
)
# A webhook is disabled when so many deliveries in a row were given up.
MAX_DROPPED: Final = 20
# The time in which an attempt ends; after it, the process that made it has died.
CLAIM_TIME: Final = timedelta(minutes=1)
# What could not be told for so long, since a receiver is slower than answers end, or its user was not active, is not told
# any more, and deleted with the next attempt at the same webhook.
LONGEST_WAIT: Final = timedelta(days=7)
GONE: Final = 410
MAX_ERROR: Final = 40


class AskedWebhook(NamedTuple):
    id: UUID


class ClaimedDelivery(NamedTuple):
    id: int


# The enabled webhooks of the active owner of a turn; none for a temporary chat. Parameters: turn. Plan: primary keys, chat_webhook
# by owner. One that is being deleted is skipped: nothing waits for it, and no delivery can lack it at the commit.
_OF_TURN: Final = Statement(
    """
    SELECT webhook.id
    FROM chat_turn AS turn
    JOIN chat_session AS session ON session.id = turn.session_id AND session.temporary_until IS NULL
    JOIN auth_user AS owner ON owner.id = session.owner_id AND owner.is_active
    JOIN chat_webhook AS webhook ON webhook.owner_id = owner.id AND webhook.is_enabled
    WHERE turn.id = %(turn)s
    FOR KEY SHARE OF webhook SKIP LOCKED
    """,
    AskedWebhook,
)
# Claims the oldest due delivery of each webhook, first those of webhooks that were told least recently: however much others
# are still to be told, each has its turn. Parameters: busy (ids), limit, lasts and longest_wait (intervals).
# Plan: from one webhook with deliveries to the next, and to its oldest delivery, by webhook_delivery_by_time.
_CLAIM: Final = Statement(
    """
    WITH RECURSIVE waiting (webhook_id) AS (
        (SELECT webhook_id FROM chat_webhookdelivery ORDER BY webhook_id LIMIT 1)
        UNION ALL
        SELECT (
            SELECT delivery.webhook_id FROM chat_webhookdelivery AS delivery
            WHERE delivery.webhook_id > waiting.webhook_id ORDER BY delivery.webhook_id LIMIT 1
        )
        FROM waiting WHERE waiting.webhook_id IS NOT NULL
    ), chosen AS (
        SELECT oldest.id
        FROM waiting
        JOIN chat_webhook AS webhook ON webhook.id = waiting.webhook_id AND webhook.is_enabled
        JOIN auth_user AS owner ON owner.id = webhook.owner_id AND owner.is_active
        CROSS JOIN LATERAL (
            SELECT id FROM chat_webhookdelivery AS delivery
            WHERE delivery.webhook_id = waiting.webhook_id AND next_attempt_at <= STATEMENT_TIMESTAMP()
                AND next_attempt_at > STATEMENT_TIMESTAMP() - %(longest_wait)s
            ORDER BY next_attempt_at LIMIT 1
        ) AS oldest
        WHERE webhook.id <> ALL(%(busy)s::uuid[])
        ORDER BY webhook.last_attempt_at NULLS FIRST LIMIT %(limit)s
    ), free AS (
        SELECT id FROM chat_webhookdelivery
        WHERE id IN (SELECT id FROM chosen) AND next_attempt_at <= STATEMENT_TIMESTAMP()
        FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE chat_webhookdelivery AS delivery
    SET next_attempt_at = STATEMENT_TIMESTAMP() + %(lasts)s, attempts = attempts + 1
    FROM free WHERE delivery.id = free.id RETURNING delivery.id
    """,
    ClaimedDelivery,
)


def new_secret() -> str:
    return SIGNING_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


class WebhookQuerySet(OwnedQuerySet["Webhook"]):
    def of_turn(self, turn: UUID) -> list[UUID]:
        """Return the ids of the webhooks that are told of the turn, which stay until the transaction ends."""
        return [row.id for row in _OF_TURN.all(turn=turn)]


class Webhook(OwnedRow):
    """last_status: of the answer to the latest attempt; null: there was none.  last_error: why there was none, a code.
    failures: attempts in a row that have failed.  dropped: deliveries in a row that were given up.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # The constraint is of SQL, ON DELETE CASCADE: the version before deletes users, and knows no such rows.
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks", db_constraint=False
    )
    url = models.CharField(max_length=MAX_URL_CHARACTERS)
    # Encrypted by chat/infrastructure/encryption.py.
    encrypted_secret = models.TextField(editable=False)
    is_enabled = models.BooleanField(default=True)
    last_attempt_at = models.DateTimeField(null=True, editable=False)
    last_status = models.SmallIntegerField(null=True, editable=False)
    last_error = models.CharField(max_length=MAX_ERROR, blank=True, default="", editable=False)
    failures = models.IntegerField(default=0, editable=False)
    dropped = models.IntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        app_label = "chat"
        ordering = ("-created_at", "-id")
        constraints = [
            models.CheckConstraint(condition=~Q(encrypted_secret=""), name="webhook_has_a_secret"),
        ]

    def __str__(self) -> str:
        return self.url

    @property
    def secret(self) -> str:
        """The decrypted secret. Raises EncryptionUnavailable, UnreadableSecret."""
        return encryption.decrypt(self.encrypted_secret)

    def change(self, **fields: Any) -> bool:
        """Set fields. One that is disabled forgets what it was still to be told; one that is enabled again begins anew."""
        if fields.get("is_enabled"):
            fields |= {"failures": 0, "dropped": 0}
        with transaction.atomic():
            is_there = super().change(**fields)
            if not self.is_enabled:
                WebhookDelivery.objects.filter(webhook=self).delete()
        return is_there


class WebhookDeliveryQuerySet(models.QuerySet["WebhookDelivery"]):
    # Factories

    def add(self, webhooks: Collection[UUID], events: Collection[Mapping[str, Any]]) -> None:
        """Store that each of the webhooks is to be told each of the events, from now on."""
        now: Any = Now()
        self.bulk_create(
            WebhookDelivery(webhook_id=webhook, event=event, next_attempt_at=now)
            for webhook in webhooks
            for event in events
        )

    # Mutators

    def claim(self, busy: Collection[UUID], limit: int) -> list[WebhookDelivery]:
        """Claim at most `limit` due deliveries with their webhooks, one of each. busy: webhooks that are left out.

        The claim ends after CLAIM_TIME: whoever has died meanwhile has perhaps told the event, which is told again.
        """
        claimed = _CLAIM.all(busy=list(busy), limit=limit, lasts=CLAIM_TIME, longest_wait=LONGEST_WAIT)
        return (
            list(self.filter(pk__in=[row.id for row in claimed]).select_related("webhook")) if claimed else []
        )

    def end_attempt(self, delivery: WebhookDelivery, status: int | None, error: str = "") -> None:
        """Store how an attempt ended: delete the delivery, or plan the next attempt. status: of the answer; None: none.
        Does nothing if the user has deleted or disabled the webhook, or another attempt has begun.
        """
        is_last = delivery.attempts > len(RETRY_DELAYS)
        with transaction.atomic():
            webhook = Webhook.objects.select_for_update(no_key=True).filter(pk=delivery.webhook_id).first()
            own = self.filter(pk=delivery.pk, attempts=delivery.attempts)
            if webhook is None or not own.exists():
                return
            if status is not None and 200 <= status < 300:
                counts = {"failures": 0, "dropped": 0}
            else:
                counts = {"failures": webhook.failures + 1, "dropped": webhook.dropped + is_last}
            # The user may have disabled it meanwhile.
            is_enabled = webhook.is_enabled and status != GONE and counts["dropped"] < MAX_DROPPED
            if not is_enabled:
                self.filter(webhook=webhook).delete()
            elif is_last or not counts["failures"]:
                own.delete()
            else:
                own.update(next_attempt_at=Now() + RETRY_DELAYS[delivery.attempts - 1])
            self.filter(webhook=webhook, next_attempt_at__lt=Now() - LONGEST_WAIT).delete()
            latest = {"last_attempt_at": Now(), "last_status": status, "last_error": error}
            Webhook.objects.filter(pk=webhook.pk).update(is_enabled=is_enabled, **latest, **counts)


class WebhookDelivery(models.Model):
    """event: what is sent.  attempts: those that have begun."""

    # As above. Django would delete these rows first, and meet whoever has locked the webhook in a deadlock.
    webhook = models.ForeignKey(
        Webhook, on_delete=models.DO_NOTHING, related_name="deliveries", db_constraint=False, db_index=False
    )
    event = models.JSONField()
    attempts = models.SmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField()

    objects = WebhookDeliveryQuerySet.as_manager()

    class Meta:
        app_label = "chat"
        indexes = [models.Index(fields=["webhook", "next_attempt_at"], name="webhook_delivery_by_time")]

    def __str__(self) -> str:
        return f"{self.event['id']} for {self.webhook_id}"
