"""Preferences: read and changed by their user alone, bounded, and deleted with the account."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from chat.models import Preferences
from tests import factories

PLACE = "/api/preferences/"
METRIC = "  Answer in metric units.\n"


def change(client: APIClient, **fields: Any) -> Any:
    return client.patch(PLACE, fields, format="json")


def test_a_user_who_has_chosen_nothing_has_no_instructions(client: APIClient) -> None:
    nothing = {"instructions": "", "uses_instructions": True, "instruction_tokens": 0}
    assert client.get(PLACE).json() == nothing
    assert not Preferences.objects.exists()


def test_instructions_are_kept_as_written_and_counted(client: APIClient) -> None:
    changed = change(client, instructions=METRIC)
    assert changed.json() == {
        "instructions": METRIC, "uses_instructions": True, "instruction_tokens": 6,
    }  # fmt: skip
    assert client.get(PLACE).json() == changed.json()


def test_switching_them_off_keeps_the_text(client: APIClient) -> None:
    change(client, instructions=METRIC)
    assert change(client, uses_instructions=False).json()["instructions"] == METRIC
    assert client.get(PLACE).json()["uses_instructions"] is False


@pytest.mark.parametrize(("length", "status"), [(4_000, 200), (4_001, 400)])
def test_they_are_bounded(client: APIClient, length: int, status: int) -> None:
    assert change(client, instructions="ü" * length).status_code == status


def test_others_neither_see_nor_change_them(client: APIClient) -> None:
    bob = factories.api_client(factories.create_user("bob"))
    change(client, instructions=METRIC)
    assert bob.get(PLACE).json()["instructions"] == ""
    change(bob, instructions="In verse.")
    assert client.get(PLACE).json()["instructions"] == METRIC


def test_they_go_with_their_user(client: APIClient, alice: User) -> None:
    change(client, instructions=METRIC)
    alice.delete()
    assert not Preferences.objects.exists()
