"""The end of a run, and a run that waits for approvals, leave an event for each webhook of its user, in one transaction."""

from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from kombu.exceptions import OperationalError

from chat.models import Run, Session, ToolCall
from chat.models.outcome import RunOutcome
from chat.models.sql.turns import TurnState
from chat.protocol.errors import run_error
from chat.protocol.states import Status
from chat.runs.completion import announce, commit_end
from chat.transcript.finish import LENGTH, Finish
from chat.transcript.questions import AnyQuestion, Question, read_form
from chat.transcript.usage import TokenUsage
from features.openai.authentication import Caller
from features.openai.responses import find_response, present_response
from features.webhooks import turn_part
from features.webhooks.models import Webhook, WebhookDelivery
from features.webhooks.turn_part import DELIVER_WEBHOOKS, WebhookPart
from llm_worker.attempt.fenced_writes import Checkpoint, Waiting, let_wait
from tests import broker, factories
from tests.concurrency import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def webhook(alice: Any) -> Webhook:
    return Webhook.objects.create(owner=alice, url="https://hooks.example.com/", encrypted_secret="x")


def events() -> list[dict[str, Any]]:
    return [row.event for row in WebhookDelivery.objects.order_by("pk")]


def end(run_id: str, status: Status, **outcome: Any) -> None:
    run = Run.objects.claim(run_id, owner=1)
    assert run
    if status == Status.STOPPED:
        assert Run.objects.stop(run_id)
    assert commit_end(run.pk, run.attempt, RunOutcome(status, last_seq=3, **outcome))
    announce(run.pk)


ENDS = {
    "completed": (Status.COMPLETED, {"text": "Two bulges."}),
    "incomplete": (Status.COMPLETED, {"text": "Two bul", "finish": Finish(LENGTH, 3)}),
    "failed": (Status.FAILED, {"error": run_error("upstream_unavailable")}),
    "cancelled": (Status.STOPPED, {"text": "Two"}),
}


@pytest.mark.parametrize("status", ENDS)
def test_an_event_says_what_the_response_of_its_id_says(
    alice: Any, client: Any, session: str, webhook: Webhook, status: str
) -> None:
    started = factories.send_turn(client, session).json()
    before = int(timezone.now().timestamp())
    end(started["runs"][0]["id"], ENDS[status][0], **ENDS[status][1])
    [event] = events()
    response = present_response(find_response(Caller(alice), event["data"]["id"]))
    assert (event["type"], response["status"]) == (f"response.{status}", status)
    assert event["object"] == "event"
    assert event["id"].startswith("evt_")
    assert before <= event["created_at"] <= timezone.now().timestamp()
    assert event["data"] == {
        "id": response["id"],
        "session": session,
        "turn": started["turn"],
        "message": started["runs"][0]["message"],
        "run": started["runs"][0]["id"],
    }
    assert [WebhookDelivery.objects.get().webhook_id] == [webhook.pk]


def test_each_model_has_an_event_and_each_webhook_is_told_all(
    alice: Any, client: Any, session: str, webhook: Webhook
) -> None:
    Webhook.objects.create(owner=alice, url="https://other.example.com/", encrypted_secret="x")
    factories.complete_turn(client, session, models=["quick", "slow"])
    told_of = sorted((str(row.webhook_id), row.event["data"]["run"]) for row in WebhookDelivery.objects.all())
    runs = [str(pk) for pk in Run.objects.values_list("pk", flat=True)]
    webhooks = [str(pk) for pk in Webhook.objects.values_list("pk", flat=True)]
    assert told_of == sorted((hook, run) for hook in webhooks for run in runs)
    assert len({event["id"] for event in events()}) == 2


def test_an_answer_that_goes_on_ends_with_another_event(client: Any, session: str, webhook: Webhook) -> None:
    run = factories.send_turn(client, session).json()["runs"][0]["id"]
    end(run, *ENDS["incomplete"][:1], **ENDS["incomplete"][1])
    assert client.post(f"/api/runs/{run}/continuation/").status_code in (200, 202)
    factories.finish_run(run, "Two bulges.")
    first, second = events()
    assert [event["type"] for event in (first, second)] == ["response.incomplete", "response.completed"]
    assert first["data"] == second["data"]
    assert first["id"] != second["id"]


def test_each_answer_of_a_turn_is_told_when_it_ends_whatever_those_beside_it_do(
    client: Any, session: str, webhook: Webhook
) -> None:
    quick, slow = factories.send_turn(client, session, models=["quick", "slow"]).json()["runs"]
    end(quick["id"], *ENDS["incomplete"][:1], **ENDS["incomplete"][1])
    assert [event["data"]["run"] for event in events()] == [quick["id"]]
    # Its turn goes on, and ends once more later.
    assert client.post(f"/api/runs/{quick['id']}/continuation/").status_code in (200, 202)
    factories.finish_run(slow["id"])
    announce(slow["id"])
    factories.finish_run(quick["id"], "Two bulges.")
    assert [event["data"]["run"] for event in events()] == [quick["id"], slow["id"], quick["id"]]


def test_what_nobody_asked_to_be_told_is_not_stored(alice: Any, client: Any, session: str) -> None:
    bob = factories.create_user("bob")
    Webhook.objects.create(owner=bob, url="https://bob.example.com/", encrypted_secret="x")
    Webhook.objects.create(owner=alice, url="https://a.example.com/", encrypted_secret="x", is_enabled=False)
    factories.complete_turn(client, session)
    assert not WebhookDelivery.objects.exists()


def test_a_temporary_chat_tells_nothing(client: Any, session: str, webhook: Webhook) -> None:
    Session.objects.update(temporary_until=timezone.now())
    factories.complete_turn(client, session)
    assert not WebhookDelivery.objects.exists()


def test_a_user_without_webhooks_pays_one_query_at_the_end_of_an_answer(client: Any, session: str) -> None:
    turn = UUID(factories.complete_turn(client, session)["turn"])
    run = Run.objects.get().pk
    with CaptureQueriesContext(connection) as queries:
        WebhookPart().after_run(run, TurnState(turn, ["completed"], True, False, False))
    assert len(queries) == 1


def test_workers_learn_of_an_event_once_it_is_committed(client: Any, session: str, webhook: Webhook) -> None:
    broker.queued()
    factories.complete_turn(client, session)
    assert [task for task, _ in broker.queued() if task == DELIVER_WEBHOOKS] == [DELIVER_WEBHOOKS]


def test_a_broker_that_is_away_keeps_no_turn_from_ending(
    client: Any, session: str, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError

    monkeypatch.setattr(turn_part, "send_message", refuse)
    factories.complete_turn(client, session)
    assert Run.objects.get().announced_at
    assert len(events()) == 1


def test_an_event_stays_although_its_chat_is_deleted(client: Any, session: str, webhook: Webhook) -> None:
    factories.complete_turn(client, session)
    assert client.delete(f"/api/sessions/{session}/").status_code == 204
    Session.with_trash.filter(pk=session).delete()
    assert len(events()) == 1


def test_a_webhook_that_is_being_deleted_keeps_no_turn_from_ending(
    client: Any, session: str, webhook: Webhook
) -> None:
    with transaction.atomic():
        webhook.delete()
        run_concurrently(lambda: factories.complete_turn(client, session))
        assert Run.objects.get().announced_at
    assert events() == []


def wait(client: Any, session: str, question: AnyQuestion | None = None) -> Run:
    """A run whose worker lets it wait: for the approval of a call, or for the answer to a question."""
    run = Run.objects.claim(factories.send_turn(client, session).json()["runs"][0]["id"], owner=1)
    assert run
    factories.create_waiting_call(run, {}, {}, question=question)
    assert let_wait(Checkpoint(run, 3, "I ask. ", "", 1), TokenUsage(), 1) == Waiting.WAITING
    return run


def test_a_response_that_ends_by_asking_for_an_approval_is_an_event_and_so_is_the_next(
    alice: Any, client: Any, session: str, webhook: Webhook
) -> None:
    run = wait(client, session)
    [asking] = events()
    response = present_response(find_response(Caller(alice), asking["data"]["id"]))
    assert (asking["type"], response["status"]) == ("response.completed", "completed")
    assert [item["type"] for item in response["output"]] == ["mcp_approval_request"]
    approval = client.post(
        f"/api/tool-calls/{ToolCall.objects.get().pk}/approval/", {"approved": True}, format="json"
    )
    assert approval.status_code == 202
    end(str(run.pk), Status.COMPLETED, text="I ask. Done.")
    [_, last] = events()
    assert last["id"] != asking["id"]
    assert last["data"]["id"] != asking["data"]["id"]
    assert find_response(Caller(alice), last["data"]["id"]).number == 1


def test_a_question_is_no_event_since_its_response_goes_on(
    client: Any, session: str, webhook: Webhook
) -> None:
    wait(
        client,
        session,
        Question("Which one?", read_form({"type": "object", "properties": {"it": {"type": "string"}}})),
    )
    assert events() == []
