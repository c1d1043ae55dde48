"""The admin of providers: keys go in, and nothing of them comes out."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from chat.models import Provider
from tests import factories

pytestmark = pytest.mark.django_db

LIST = "/admin/chat/provider/"
KEY = "sk-key-of-the-admin-24680"
CLOUD = {"name": "Cloud", "base_url": "https://api.example.com/v1", "is_enabled": "on"}


@pytest.fixture
def staff() -> Client:
    return factories.staff_client("view_provider", "add_provider", "change_provider", "delete_provider")


def add(staff: Client, **fields: Any) -> Any:
    return staff.post(f"{LIST}add/", {**CLOUD, **fields})


def test_a_key_is_entered_and_never_shown(staff: Client) -> None:
    assert add(staff, api_key=KEY).status_code == 302
    provider = Provider.objects.get()
    assert provider.api_key == KEY
    assert provider.created_by.username == "bob"
    page = f"{LIST}{provider.pk}/change/"
    shown = [staff.get(LIST), staff.get(page), staff.get(f"{LIST}{provider.pk}/history/")]
    shown.append(staff.post(page, {**CLOUD, "name": "", "api_key": KEY}))
    for response in shown:
        assert response.status_code == 200
        assert KEY[-6:] not in response.text
        assert "gAAAA" not in response.text
    assert KEY not in repr(list(LogEntry.objects.values()))


def test_a_key_stays_unless_it_is_entered_or_removed(staff: Client) -> None:
    add(staff, api_key=KEY)
    page = f"{LIST}{Provider.objects.get().pk}/change/"
    assert staff.post(page, {**CLOUD, "name": "Sky"}).status_code == 302
    assert (Provider.objects.get().name, Provider.objects.get().api_key) == ("Sky", KEY)
    staff.post(page, {**CLOUD, "removes_key": "on"})
    assert not Provider.objects.get().has_key


def test_a_stored_key_goes_to_no_other_server(staff: Client) -> None:
    add(staff, api_key=KEY)
    page = f"{LIST}{Provider.objects.get().pk}/change/"
    refused = staff.post(page, {**CLOUD, "base_url": "https://evil.example/v1"})
    assert "not sent to another server" in refused.text
    assert Provider.objects.get().base_url == CLOUD["base_url"]


@pytest.mark.parametrize(
    "fields", [{"base_url": "http://169.254.169.254/"}, {"base_url": "ftp://a/"}, {"api_key": "two words"}]
)
def test_what_the_api_refuses_is_refused_here(staff: Client, fields: dict[str, str]) -> None:
    assert add(staff, **fields).status_code == 200
    assert not Provider.objects.exists()


def test_a_second_provider_of_a_name_is_refused(staff: Client) -> None:
    add(staff)
    assert "There is a provider of this name" in add(staff).text


def test_without_keys_to_encrypt_with_no_key_is_taken(staff: Client, settings: Any) -> None:
    settings.SECRETS_KEYS = []
    assert "SECRETS_KEYS" in add(staff, api_key=KEY).text
    assert add(staff).status_code == 302


def test_a_deleted_one_is_not_listed_and_none_is_deleted_here(staff: Client) -> None:
    add(staff)
    provider = Provider.objects.get()
    assert staff.post(f"{LIST}{provider.pk}/delete/", {"post": "yes"}).status_code == 403
    provider.retire()
    assert staff.get(f"{LIST}{provider.pk}/change/").status_code == 302
