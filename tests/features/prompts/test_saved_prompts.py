"""Saved prompts: kept, changed and deleted by their owner alone, as many as the quota allows."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from features.prompts.models import SavedPrompt
from tests import factories

PROMPTS = "/api/prompts/"
TIDES = {"name": "Tides", "text": "  When is high tide in\n"}


def create(client: APIClient, **fields: Any) -> str:
    return str(client.post(PROMPTS, {**TIDES, **fields}, format="json").json()["id"])


def test_a_saved_prompt_is_read_as_it_was_written(client: APIClient) -> None:
    made = client.post(PROMPTS, TIDES, format="json")
    assert made.status_code == 201
    assert {name: made.json()[name] for name in TIDES} == TIDES
    assert client.get(f"{PROMPTS}{made.json()['id']}/").json() == made.json()
    assert client.get(PROMPTS).json() == [made.json()]


def test_a_patch_changes_what_it_names_and_puts_the_prompt_first(client: APIClient) -> None:
    first, second = create(client), create(client, name="Moon")
    assert [row["id"] for row in client.get(PROMPTS).json()] == [second, first]
    changed = client.patch(f"{PROMPTS}{first}/", {"text": "Briefly."}, format="json").json()
    assert (changed["name"], changed["text"]) == ("Tides", "Briefly.")
    assert [row["id"] for row in client.get(PROMPTS).json()] == [first, second]


def test_a_deleted_prompt_is_gone(client: APIClient) -> None:
    prompt = create(client)
    assert client.delete(f"{PROMPTS}{prompt}/").status_code == 204
    missing = client.get(f"{PROMPTS}{prompt}/")
    assert (missing.status_code, missing.json()["code"]) == (404, "prompt_not_found")


@pytest.mark.parametrize(
    "body",
    [{"name": "", "text": "x"}, {"name": "x", "text": ""}, {"name": "x"}, {"name": " \n", "text": "x"}],
)
def test_a_prompt_has_a_name_and_a_text(client: APIClient, body: dict[str, str]) -> None:
    assert client.post(PROMPTS, body, format="json").status_code == 400
    assert not SavedPrompt.objects.exists()


def test_prompts_of_others_are_not_there(client: APIClient) -> None:
    bobs = SavedPrompt.objects.create(owner=factories.create_user("bob"), **TIDES)
    assert client.get(PROMPTS).json() == []
    for method in (client.get, client.patch, client.delete):
        assert method(f"{PROMPTS}{bobs.pk}/").status_code == 404
    assert SavedPrompt.objects.get().text == TIDES["text"]


def test_at_the_quota_a_prompt_is_refused_until_one_is_deleted(client: APIClient, settings: Any) -> None:
    settings.MAX_PROMPTS_PER_USER = 1
    prompt = create(client)
    refused = client.post(PROMPTS, TIDES, format="json")
    assert (refused.status_code, refused.json()["code"], refused.json()["max"]) == (
        409,
        "too_many_prompts",
        1,
    )
    client.delete(f"{PROMPTS}{prompt}/")
    assert client.post(PROMPTS, TIDES, format="json").status_code == 201


def test_prompts_go_with_their_owner(client: APIClient, alice: User) -> None:
    create(client)
    alice.delete()
    assert not SavedPrompt.objects.exists()
