"""Members of configured groups are staff, as long as they are members."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from tests import factories

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def operators(settings: Any) -> Group:
    settings.STAFF_GROUPS = ["operators"]
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    Group.objects.create(name="others")
    return Group.objects.create(name="operators")


@pytest.fixture
def alice() -> User:
    return factories.create_user("alice", PASSWORD)


def is_staff(name: str = "alice") -> bool:
    return User.objects.get(username=name).is_staff


def save_groups(user: User, *groups: Group, **fields: str) -> None:
    """With the form of the admin."""
    root = Client()
    root.force_login(User.objects.filter(username="root").first() or User.objects.create_superuser("root"))
    place = f"/admin/auth/user/{user.pk}/change/"
    form = root.get(place).context["adminform"].form
    stored = {name: form[name].value() for name in ("username", "first_name", "last_name", "email")}
    stored |= {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00", "is_active": "on"}
    stored |= {name: "on" for name in ("is_staff", "is_superuser") if form[name].value()}
    body = stored | {"groups": [group.pk for group in groups]} | fields
    assert root.post(place, body).status_code == 302


def test_membership_given_and_taken_in_the_admin_gives_and_takes_staff(alice: User, operators: Group) -> None:
    save_groups(alice, Group.objects.get(name="others"))
    assert not is_staff()
    save_groups(alice, operators)
    assert is_staff()
    save_groups(alice)
    assert not is_staff()


def test_staff_without_a_group_and_superusers_stay_staff(alice: User, operators: Group) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    save_groups(alice)
    assert is_staff()
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    save_groups(alice, operators)
    save_groups(alice)
    assert is_staff()


@pytest.mark.parametrize("place", ["/login/", "/admin/login/"])
def test_a_membership_that_was_given_elsewhere_counts_from_the_next_login(
    alice: User, operators: Group, place: str
) -> None:
    alice.groups.add(operators)
    browser = Client()
    assert browser.post(place, {"username": "alice", "password": PASSWORD}).status_code == 302
    assert browser.get("/admin/").status_code == 200


def test_without_the_setting_groups_make_nobody_staff(alice: User, operators: Group, settings: Any) -> None:
    settings.STAFF_GROUPS = []
    alice.groups.add(operators)
    Client().post("/login/", {"username": "alice", "password": PASSWORD})
    save_groups(alice, operators)
    assert not is_staff()
