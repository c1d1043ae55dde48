"""Events reach their receivers as Standard Webhooks describes it: signed, at least once, with one id, for about a day."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import openai
import pytest
from django.db import DatabaseError
from django.db.models.functions import Now
from django.utils import timezone

from chat.infrastructure import encryption
from features.webhooks import worker_part
from features.webhooks.models import MAX_DROPPED, RETRY_DELAYS, Webhook, WebhookDelivery, new_secret
from features.webhooks.worker_part import WebhookWorker, deliver
from llm_worker.database import Database
from tests import factories, secrets_keys
from tests.webhook_receiver import Received, Receiver

pytestmark = pytest.mark.django_db(transaction=True)
EVENT = {
    "id": "evt_1", "object": "event", "created_at": 1_700_000_000, "type": "response.completed",
    "data": {"id": "resp_1", "session": "c0ffee", "message": "é"},
}  # fmt: skip


@pytest.fixture
def webhook(alice: Any, receiver: Receiver) -> Webhook:
    return hook(alice, f"{receiver.url}/204")


def hook(owner: Any, url: str) -> Webhook:
    return Webhook.objects.create(owner=owner, url=url, encrypted_secret=encryption.encrypt(new_secret()))


def attempt(webhook: Webhook) -> WebhookDelivery:
    """Make the next attempt at the event of the webhook, as if it were due. Adds the event if there is none."""
    if not WebhookDelivery.objects.filter(webhook=webhook).exists():
        WebhookDelivery.objects.add([webhook.pk], [EVENT])
    WebhookDelivery.objects.update(next_attempt_at=Now())
    [delivery] = WebhookDelivery.objects.claim([], 10)

    async def run() -> None:
        database = Database()
        await deliver(delivery, database)
        database.close()

    asyncio.run(run())
    webhook.refresh_from_db()
    return delivery


def wait_until(is_so: Callable[[], bool]) -> None:
    limit = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < limit
        time.sleep(0.01)


def is_delivered(webhook: Webhook) -> bool:
    return not WebhookDelivery.objects.filter(webhook=webhook).exists()


def signature_of(received: Received, secret: str) -> str:
    content = (
        f"{received.headers['webhook-id']}.{received.headers['webhook-timestamp']}.".encode() + received.body
    )
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()


def test_an_event_is_signed_as_standard_webhooks_says(webhook: Webhook, receiver: Receiver) -> None:
    attempt(webhook)
    received = receiver.received.get_nowait()
    assert received.headers["webhook-id"] == EVENT["id"]
    assert received.headers["content-type"] == "application/json"
    assert json.loads(received.body) == EVENT
    assert received.headers["webhook-signature"] == signature_of(received, webhook.secret)
    assert abs(int(received.headers["webhook-timestamp"]) - time.time()) < 300
    assert is_delivered(webhook)
    assert (webhook.last_status, webhook.last_error, webhook.failures) == (204, "", 0)


def test_openais_client_verifies_and_reads_an_event(webhook: Webhook, receiver: Receiver) -> None:
    attempt(webhook)
    received = receiver.received.get_nowait()
    client = openai.OpenAI(api_key="none", webhook_secret=webhook.secret)
    event = client.webhooks.unwrap(received.body, received.headers)
    assert (event.type, event.data.id) == ("response.completed", "resp_1")
    with pytest.raises(openai.InvalidWebhookSignatureError):
        client.webhooks.unwrap(received.body, received.headers, secret=new_secret())


def test_a_failed_attempt_is_repeated_later_and_later_with_the_same_id(
    alice: Any, receiver: Receiver
) -> None:
    webhook = hook(alice, f"{receiver.url}/500")
    for number, delay in enumerate(RETRY_DELAYS, start=1):
        before = timezone.now()
        attempt(webhook)
        after = timezone.now()
        assert (webhook.last_status, webhook.failures) == (500, number)
        assert before <= WebhookDelivery.objects.get().next_attempt_at - delay <= after
        assert WebhookDelivery.objects.claim([], 10) == []
    assert timedelta(days=1) < sum(RETRY_DELAYS, timedelta()) < timedelta(days=2)
    attempt(webhook)
    assert is_delivered(webhook), "it is given up"
    assert (webhook.is_enabled, webhook.dropped) == (True, 1)
    received = [receiver.received.get_nowait() for _ in range(len(RETRY_DELAYS) + 1)]
    assert {request.headers["webhook-id"] for request in received} == {EVENT["id"]}
    assert all(
        request.headers["webhook-signature"] == signature_of(request, webhook.secret) for request in received
    )


def test_a_success_ends_a_row_of_failures(webhook: Webhook) -> None:
    Webhook.objects.update(failures=9, dropped=MAX_DROPPED - 1, last_error="timeout")
    attempt(webhook)
    assert (webhook.failures, webhook.dropped, webhook.last_error) == (0, 0, "")


def test_a_receiver_that_is_gone_is_told_nothing_more(alice: Any, receiver: Receiver) -> None:
    webhook = hook(alice, f"{receiver.url}/410")
    WebhookDelivery.objects.add([webhook.pk], [{**EVENT, "id": "evt_2"}])
    attempt(webhook)
    assert (webhook.is_enabled, webhook.last_status) == (False, 410)
    assert is_delivered(webhook)


def test_a_receiver_that_fails_for_days_is_told_nothing_more(alice: Any, receiver: Receiver) -> None:
    webhook = hook(alice, f"{receiver.url}/503")
    Webhook.objects.update(dropped=MAX_DROPPED - 1)
    WebhookDelivery.objects.add([webhook.pk], [EVENT])
    WebhookDelivery.objects.update(attempts=len(RETRY_DELAYS))
    attempt(webhook)
    assert (webhook.is_enabled, webhook.dropped) == (False, MAX_DROPPED)


def test_a_redirect_is_not_followed(alice: Any, receiver: Receiver) -> None:
    webhook = hook(alice, f"{receiver.url}/307")
    attempt(webhook)
    assert webhook.last_status == 307
    assert not is_delivered(webhook)
    assert receiver.received.qsize() == 1


def test_a_private_address_is_told_nothing(alice: Any, receiver: Receiver, settings: Any) -> None:
    webhook = hook(alice, receiver.url)
    settings.URL_ALLOWED_HOSTS = frozenset()
    attempt(webhook)
    assert (webhook.last_status, webhook.last_error) == (None, "url_address_blocked")
    assert receiver.received.empty()


def test_a_name_that_leads_to_a_private_address_is_told_nothing(
    alice: Any, receiver: Receiver, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.URL_ALLOWED_HOSTS = frozenset()
    webhook = hook(alice, "http://localhost/")
    attempt(webhook)
    assert (webhook.last_status, webhook.last_error) == (None, "url_address_blocked")


@pytest.mark.parametrize(
    ("keys", "error"), [([], "encryption_unavailable"), ([secrets_keys.SECOND], "secret_unreadable")]
)
def test_a_secret_that_no_key_decrypts_is_an_error_of_the_webhook(
    webhook: Webhook, receiver: Receiver, settings: Any, keys: list[str], error: str
) -> None:
    settings.SECRETS_KEYS = keys
    attempt(webhook)
    assert (webhook.last_error, webhook.last_status, webhook.failures) == (error, None, 1)
    assert receiver.received.empty()


def test_no_log_has_a_secret(webhook: Webhook, caplog: Any) -> None:
    caplog.set_level("DEBUG")
    attempt(webhook)
    assert str(webhook.pk) in caplog.text
    assert webhook.secret not in caplog.text
    assert webhook.secret.removeprefix("whsec_") not in caplog.text


def test_a_claim_ends_with_its_process(webhook: Webhook) -> None:
    WebhookDelivery.objects.add([webhook.pk], [EVENT])
    [first] = WebhookDelivery.objects.claim([], 10)
    assert WebhookDelivery.objects.claim([], 10) == []
    assert WebhookDelivery.objects.get().next_attempt_at > timezone.now()
    WebhookDelivery.objects.update(next_attempt_at=Now())
    [second] = WebhookDelivery.objects.claim([], 10)
    assert (first.attempts, second.attempts) == (1, 2)
    # The process lives after all, and is late.
    WebhookDelivery.objects.end_attempt(first, 500)
    assert WebhookDelivery.objects.get().next_attempt_at > timezone.now() + RETRY_DELAYS[0]


def test_whoever_was_told_least_recently_is_told_next(alice: Any, receiver: Receiver) -> None:
    """However much others are still to be told, and however their ids compare."""
    busy, waiting = (
        [hook(owner, receiver.url) for _ in range(3)] for owner in (alice, factories.create_user("bob"))
    )
    many = [{**EVENT, "id": f"evt_{n}"} for n in range(50)]
    WebhookDelivery.objects.add([webhook.pk for webhook in busy], many)
    WebhookDelivery.objects.update(next_attempt_at=Now() - timedelta(hours=1))
    Webhook.objects.filter(pk__in=[webhook.pk for webhook in busy]).update(last_attempt_at=Now())
    WebhookDelivery.objects.add([webhook.pk for webhook in waiting], [EVENT])
    first = WebhookDelivery.objects.claim([], 3)
    assert {delivery.webhook for delivery in first} == set(waiting)
    second = WebhookDelivery.objects.claim([busy[0].pk], 3)
    assert {delivery.webhook for delivery in second} == set(busy[1:])


def test_a_webhook_that_is_disabled_while_a_turn_ends_stays_disabled(
    webhook: Webhook, receiver: Receiver
) -> None:
    WebhookDelivery.objects.add([webhook.pk], [EVENT])
    [delivery] = WebhookDelivery.objects.claim([], 10)
    assert webhook.change(is_enabled=False)
    # The transaction of a turn that had read the webhook before ends after it.
    WebhookDelivery.objects.add([webhook.pk], [EVENT])
    assert WebhookDelivery.objects.claim([], 10) == []
    WebhookDelivery.objects.filter(webhook=webhook).update(id=delivery.pk, attempts=delivery.attempts)
    WebhookDelivery.objects.end_attempt(delivery, 204)
    webhook.refresh_from_db()
    assert not webhook.is_enabled
    assert is_delivered(webhook)


def test_a_deactivated_user_is_told_nothing(webhook: Webhook, alice: Any) -> None:
    WebhookDelivery.objects.add([webhook.pk], [EVENT])
    alice.is_active = False
    alice.save()
    assert WebhookDelivery.objects.claim([], 10) == []


def test_what_a_slow_receiver_could_not_be_told_for_a_week_is_given_up(webhook: Webhook) -> None:
    WebhookDelivery.objects.add([webhook.pk], [{**EVENT, "id": f"evt_{n}"} for n in range(3)])
    oldest, old, latest = WebhookDelivery.objects.order_by("pk")
    for delivery, days in ((oldest, 9), (old, 8), (latest, 6)):
        WebhookDelivery.objects.filter(pk=delivery.pk).update(next_attempt_at=Now() - timedelta(days=days))
    [delivery] = WebhookDelivery.objects.claim([], 10)
    assert delivery == latest
    WebhookDelivery.objects.end_attempt(delivery, 204)
    assert not WebhookDelivery.objects.exists()


async def at_work(act: Callable[[WebhookWorker], None]) -> None:
    """Let a worker's part run, with nothing to wake it but `act`, in a thread."""
    database = Database()
    worker = WebhookWorker(database)
    try:
        await asyncio.to_thread(act, worker)
    finally:
        await worker.close()
        database.close()


def test_an_event_whose_message_was_lost_is_delivered(
    webhook: Webhook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_part, "EVERY_S", 0.05)

    def lose_the_message(_: WebhookWorker) -> None:
        WebhookDelivery.objects.add([webhook.pk], [EVENT])
        receiver.received.get(timeout=30)
        wait_until(lambda: is_delivered(webhook))

    asyncio.run(at_work(lose_the_message))


def test_a_slow_receiver_delays_no_other(alice: Any, receiver: Receiver) -> None:
    slow, quick = hook(alice, f"{receiver.url}/wait/204"), hook(alice, f"{receiver.url}/204")
    many = [{**EVENT, "id": f"evt_{n}"} for n in range(40)]
    WebhookDelivery.objects.add([slow.pk], many)
    WebhookDelivery.objects.add([quick.pk], many[:3])

    def wait(_: WebhookWorker) -> None:
        wait_until(lambda: is_delivered(quick))
        assert WebhookDelivery.objects.filter(webhook=slow).count() == 40
        receiver.gate.set()
        wait_until(lambda: is_delivered(slow))

    asyncio.run(at_work(wait))
    received = [receiver.received.get_nowait() for _ in range(43)]
    slowly = {request.headers["webhook-id"] for request in received if request.path == "/wait/204"}
    assert slowly == {event["id"] for event in many}


def test_a_database_that_is_away_ends_no_deliveries(
    webhook: Webhook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next look finds what is due."""
    monkeypatch.setattr(worker_part, "EVERY_S", 0.05)
    looks: list[int] = []
    claim = WebhookDelivery.objects.claim

    def fail_once(*args: Any) -> Any:
        looks.append(1)
        if len(looks) == 1:
            raise DatabaseError
        return claim(*args)

    WebhookDelivery.objects.add([webhook.pk], [EVENT])
    monkeypatch.setattr(WebhookDelivery.objects, "claim", fail_once)
    asyncio.run(at_work(lambda _: wait_until(lambda: is_delivered(webhook))))
