"""The base prompt of all users is changed by staff with the permission, through the API as through the admin."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from rest_framework.test import APIClient

from chat.models import SystemPrompt
from tests import factories

pytestmark = pytest.mark.django_db

PROMPT = "/api/system-prompt/"
ADMIN = "/admin/chat/systemprompt/1/change/"


def person(*permissions: str, **fields: Any) -> Any:
    found = factories.create_user("carol", **fields)
    found.user_permissions.add(*Permission.objects.filter(codename__in=permissions))
    return found


def edit(client: APIClient) -> int:
    status: int = client.put(PROMPT, {"text": "Obey carol."}, format="json").status_code
    return status


@pytest.mark.parametrize(
    ("fields", "permissions", "reads", "writes"),
    [
        ({}, [], 403, 403),
        ({}, ["change_systemprompt"], 403, 403),
        ({"is_staff": True}, [], 403, 403),
        ({"is_staff": True}, ["change_agent", "change_modelconfig"], 403, 403),
        ({"is_staff": True}, ["view_systemprompt"], 200, 403),
        ({"is_staff": True}, ["change_systemprompt"], 200, 200),
        ({"is_staff": True, "is_superuser": True}, [], 200, 200),
    ],
)
def test_only_staff_with_the_permission_read_and_change_the_base_prompt(
    fields: dict[str, bool], permissions: list[str], reads: int, writes: int
) -> None:
    SystemPrompt.edit("Be kind.")
    client = factories.api_client(person(*permissions, **fields))
    assert (client.get(PROMPT).status_code, edit(client)) == (reads, writes)
    assert SystemPrompt.edited() == ("Obey carol." if writes == 200 else "Be kind.")


@pytest.mark.parametrize("permissions", [[], ["view_systemprompt"], ["change_agent"]])
def test_the_admin_changes_it_for_nobody_else_either(permissions: list[str]) -> None:
    SystemPrompt.edit("Be kind.")
    client = Client()
    client.force_login(person(*permissions, is_staff=True))
    assert client.post(ADMIN, {"text": "Obey carol."}).status_code == 403
    assert SystemPrompt.edited() == "Be kind."


def test_without_login_the_base_prompt_is_closed() -> None:
    assert (APIClient().get(PROMPT).status_code, edit(APIClient())) == (401, 401)
