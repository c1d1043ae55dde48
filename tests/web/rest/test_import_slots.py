"""Few imports are worked on at once, one of each user; the others are told to try again."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from tests import factories
from web.rest import request_slots
from web.rest.request_slots import MAX_AT_ONCE, import_slot

FILE = {
    "format": "turnwire.session",
    "version": 2,
    "messages": [{"id": 0, "role": "root", "sent_at": "2026-01-01T00:00:00Z"}],
}


@pytest.fixture
def alice(db: None) -> APIClient:
    return factories.api_client(factories.create_user("alice", pk=1))


def bring_in(client: APIClient, file: Any = FILE) -> Any:
    return client.post("/api/sessions/import/", file, format="json")


@pytest.mark.parametrize(
    "busy",
    [pytest.param([1], id="the user's own"), pytest.param(list(range(10, 10 + MAX_AT_ONCE)), id="all")],
)
def test_an_import_without_a_free_slot_is_refused_for_a_moment(
    alice: APIClient, monkeypatch: pytest.MonkeyPatch, busy: list[int]
) -> None:
    monkeypatch.setattr(request_slots, "_importing", set(busy))
    refused = bring_in(alice)
    assert (refused.status_code, refused.json()["code"]) == (503, "too_many_uploads")
    assert int(refused["Retry-After"]) > 0
    assert alice.get("/api/sessions/").json()["results"] == []


def test_a_slot_is_free_again_after_an_import_and_after_a_refused_file(alice: APIClient) -> None:
    for _ in range(MAX_AT_ONCE + 1):
        assert bring_in(alice, FILE | {"version": 99}).status_code == 400
        assert bring_in(alice).status_code == 201


def test_a_slot_is_held_during_the_import_alone() -> None:
    with import_slot("alice"), import_slot("bob"):
        assert {"alice", "bob"} <= request_slots._importing
    assert request_slots._importing == set()
