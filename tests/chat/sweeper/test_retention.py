"""What is kept for a while only is deleted once a minute, a batch at a time."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from chat.infrastructure.redis_client import sync_redis
from chat.models import McpRequest, McpRevocation, McpServer, McpSignIn, Run, SentRequest
from chat.sweeper import retention
from chat.sweeper.retention import EVERY_S, RequestPurger
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs() -> list[Run]:
    """Three runs, each with two requests of yesterday and more."""
    sync_redis().flushdb()
    factories.create_model("quick", is_default=True)
    client = factories.api_client(factories.create_user("alice"))
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    for text in ("One", "Two", "Three"):
        factories.complete_turn(client, session, text)
    runs = list(Run.objects.all())
    for run in runs:
        for cycle in (1, 2):
            SentRequest.objects.create(
                run=run, attempt=1, cycle=cycle, common=0, messages=[], tokens=1, prefix_share=0,
                sent_at=timezone.now() - timedelta(hours=30),
            )  # fmt: skip
    return runs


def test_a_batch_of_old_runs_a_sweep_then_nothing_for_a_minute(runs: list[Run], monkeypatch: Any) -> None:
    monkeypatch.setattr(retention, "RUNS_AT_ONCE", 2)
    purger = RequestPurger()
    assert [purger.run(1.0), purger.run(2.0), purger.run(3.0)] == [4, 2, 0]
    SentRequest.objects.create(
        run=runs[0], attempt=1, cycle=1, common=0, messages=[], tokens=1, prefix_share=0,
        sent_at=timezone.now() - timedelta(hours=30),
    )  # fmt: skip
    assert purger.run(2.5 + EVERY_S) == 0
    assert purger.run(3.5 + EVERY_S) == 1


@pytest.mark.parametrize(("hours", "left"), [(31, 6), (24, 0), (0, 0)])
def test_how_long_is_a_setting_and_switching_off_deletes_all(
    runs: list[Run], settings: Any, hours: int, left: int
) -> None:
    settings.KEEP_REQUESTS_HOURS = hours
    RequestPurger().run(0.0)
    assert SentRequest.objects.count() == left


def test_what_has_expired_of_mcp_servers_is_deleted_whatever_becomes_of_it() -> None:
    user, server = factories.create_user("alice"), McpServer.objects.create(name="tides", transport="http")
    credential = factories.create_mcp_credential(server, user)
    for _ in range(2):
        McpSignIn.objects.create(user=user, server=server, expires_at=timezone.now() + timedelta(hours=1))
        McpRevocation.objects.begin(credential)
        McpRequest.objects.begin(user, server, kind="prompt", target="tide")
    for table in (McpSignIn, McpRevocation, McpRequest):
        table.objects.filter(pk=table.objects.first().pk).update(expires_at=timezone.now())
    purger = retention.McpPurger()
    assert [purger.run(0.0), purger.run(1.0)] == [3, 0]
    assert [table.objects.count() for table in (McpSignIn, McpRevocation, McpRequest)] == [1, 1, 1]
