"""Who makes an API token in the admin has the account of its user."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone
from knox.models import AuthToken

from chat.models import Scope, TokenScope, TokenUse
from chat.models.token_scope import token_id
from tests import factories

pytestmark = pytest.mark.django_db

ADD = "/admin/knox/authtoken/add/"


def test_a_token_is_made_by_who_may_change_users_alone() -> None:
    root = factories.create_user("root", is_staff=True, is_superuser=True)
    staff = factories.staff_client("add_authtoken", "view_authtoken")
    assert staff.post(ADD, {"user": root.pk}).status_code == 403
    assert not AuthToken.objects.exists()
    trusted = factories.staff_client("add_authtoken", "view_authtoken", "change_user", name="carol")
    assert trusted.post(ADD, {"user": root.pk}).status_code == 302
    assert AuthToken.objects.get().user == root


def test_a_token_is_given_to_no_other_user_and_no_other_secret() -> None:
    root = factories.create_user("root", is_staff=True, is_superuser=True)
    row, _ = AuthToken.objects.create(factories.create_user("alice"))
    staff = factories.staff_client("change_authtoken")
    body = {"digest": "0" * 128, "token_key": "0" * 15, "user": root.pk}
    assert staff.post(reverse("admin:knox_authtoken_change", args=[row.pk]), body).status_code == 403
    assert AuthToken.objects.get() == row


def test_a_password_that_staff_set_deletes_the_tokens_of_its_user_alone() -> None:
    alice = factories.create_user("alice")
    AuthToken.objects.create(alice)
    kept, _ = AuthToken.objects.create(factories.create_user("root", is_staff=True, is_superuser=True))
    address = reverse("admin:auth_user_password_change", args=[alice.pk])
    staff = factories.staff_client("change_user")
    weak = {"password1": "alice", "password2": "alice", "usable_password": "true"}
    assert staff.post(address, weak).status_code == 200
    assert AuthToken.objects.filter(user=alice).exists()
    answer = staff.post(address, weak | dict.fromkeys(("password1", "password2"), "correct horse battery 9"))
    assert answer.status_code == 302
    assert list(AuthToken.objects.all()) == [kept]


def test_the_list_says_what_tokens_are_for_and_have_used() -> None:
    alice = factories.create_user("alice")
    row, _ = TokenScope.objects.create_token(alice, Scope.CHAT, name="Mail")
    AuthToken.objects.create(alice)
    TokenUse.objects.create(
        token=token_id(row.digest), day=timezone.now().date(), runs=2, tokens=12345, cost=0
    )
    page = factories.staff_client("view_authtoken").get("/admin/knox/authtoken/").content.decode()
    cells = re.findall(r'class="field-(label|scope|used_tokens)">([^<]*)<', page)
    assert [text for _, text in cells] == ["-", "write", "0", "Mail", "chat", "12345"]
