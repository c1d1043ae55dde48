"""Manual compression: when it is queued, when there is nothing to compress, and reading the summary."""

from typing import Any
from uuid import UUID

import pytest
from msgspec import to_builtins
from rest_framework.test import APIClient

from chat.compressions import requests as compression_requests
from chat.compressions.requests import CompressionUsage, NewSummary
from chat.infrastructure.redis_client import sync_redis
from chat.models import ChatMessage, Compression, ModelConfig, Run, TriggeredBy
from chat.models.session import SessionEvent
from chat.presenters.json_values import isoformat_utc
from chat.protocol.errors import ApiError
from tests import factories
from web.socket import commands, handlers

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def empty_redis() -> None:
    sync_redis().flushdb()


def ask(client: APIClient, session: str) -> tuple[int, Any]:
    response = client.post(f"/api/sessions/{session}/compression/", {}, format="json")
    return response.status_code, response.json()


def read(client: APIClient, session: str) -> Any:
    return client.get(f"/api/sessions/{session}/compression/").json()


def summarise(session: str, cutoff: str) -> ChatMessage:
    held = Compression.objects.claim(Compression.objects.under_way().get(session__id=session).pk, owner=1)
    assert held
    assert compression_requests.start(held, tokens_before=900, reserved_tokens=100, history_window=1000)
    summary = compression_requests.finish(
        held, NewSummary(cutoff, "They greeted.", 3, 400), CompressionUsage()
    )
    assert summary
    return summary


@pytest.mark.parametrize("turns", [0, 1])
def test_a_session_without_older_turns_has_nothing_to_compress(
    client: APIClient, session: str, turns: int
) -> None:
    for _ in range(turns):
        factories.complete_turn(client, session)
    assert ask(client, session) == (200, {"status": "nothing_to_compress"})
    assert not Compression.objects.exists()


def test_two_turns_are_queued_for_the_model_that_answered(client: APIClient, session: str) -> None:
    factories.complete_turn(client, session)
    factories.complete_turn(client, session, "And now?", models=["deep"])
    assert ask(client, session) == (202, {"status": "queued"})
    asked = Compression.objects.get()
    assert (asked.model, asked.triggered_by) == ("deep", TriggeredBy.USER)
    assert read(client, session) == {"summary": None, "is_under_way": True}
    # Asking again changes nothing.
    assert ask(client, session) == (202, {"status": "queued"})
    assert Compression.objects.count() == 1


def test_the_current_summary_and_its_savings_are_returned(client: APIClient, session: str) -> None:
    first = factories.complete_turn(client, session)
    factories.complete_turn(client, session, "And now?")
    ask(client, session)
    cutoff = first["runs"][0]["message"]
    summary = summarise(session, cutoff)
    body = read(client, session)
    assert not body["is_under_way"]
    assert body["summary"] == {
        "id": str(summary.pk),
        "parent": str(summary.parent_id),
        "last_summarized_message": cutoff,
        "text": "They greeted.",
        "token_count": 3,
        "saved_tokens": 500,
        "model": "quick",
        "sent_at": isoformat_utc(summary.sent_at),
    }
    # One question after the cutoff: it stays.
    assert ask(client, session) == (200, {"status": "nothing_to_compress"})
    assert [one["role"] for one in client.get(f"/api/sessions/{session}/messages/").json()] == [
        "user", "assistant", "user", "assistant",
    ]  # fmt: skip


def test_a_summary_made_for_a_smaller_model_leaves_something_to_compress(
    client: APIClient, session: str
) -> None:
    first = factories.complete_turn(client, session)
    factories.complete_turn(client, session, "And now?", models=["deep"])
    quick = ModelConfig.objects.get(name="quick")
    compression_requests.request_compression(
        factories.current_tip(session), quick, triggered_by=TriggeredBy.AUTO
    )
    summarise(session, first["runs"][0]["message"])
    assert ask(client, session) == (202, {"status": "queued"}), "the model that answered reads every message"


def test_unknown_members_are_refused(client: APIClient, session: str) -> None:
    response = client.post(f"/api/sessions/{session}/compression/", {"force": True}, format="json")
    assert (response.status_code, response.json()["code"]) == (400, "unknown_field")


def test_the_socket_s_command_does_the_same(client: APIClient, alice: Any, session: str) -> None:
    command = commands.CompressCommand(session=UUID(session))
    assert to_builtins(handlers.compress(alice, command)) == {
        "type": "accepted",
        "status": "nothing_to_compress",
    }
    factories.complete_turn(client, session)
    factories.complete_turn(client, session)
    assert to_builtins(handlers.compress(alice, command)) == {"type": "accepted", "status": "queued"}
    assert Compression.objects.get().triggered_by == "user"
    with pytest.raises(ApiError, match="session_not_found"):
        handlers.compress(factories.create_user("mallory"), command)


def test_a_model_that_is_gone_gives_way_to_the_default(client: APIClient, session: str) -> None:
    for _ in range(2):
        factories.complete_turn(client, session, models=["deep"])
    Run.objects.update(model_config=None)
    assert ask(client, session) == (202, {"status": "queued"})
    assert Compression.objects.get().model == "quick"


def test_a_summary_is_deleted_by_its_owner_alone_and_every_socket_is_told(
    client: APIClient, session: str
) -> None:
    first = factories.complete_turn(client, session)
    factories.complete_turn(client, session, "And now?")
    ask(client, session)
    summarise(session, first["runs"][0]["message"])
    address = f"/api/sessions/{session}/compression/"
    stranger = factories.api_client(factories.create_user("mallory"))
    assert stranger.delete(address).status_code == 404
    assert read(client, session)["summary"]
    for _ in range(2):
        assert client.delete(address).status_code == 204
        assert read(client, session)["summary"] is None
    statuses = [
        event.payload["status"] for event in SessionEvent.objects.filter(kind="compression").order_by("n")
    ]
    assert statuses == ["started", "done", "deleted"]
    assert ask(client, session) == (202, {"status": "queued"}), "it can be written again"
