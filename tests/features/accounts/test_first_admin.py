"""The first admin is made on a page behind a link that the start prints, once."""

import io
import re
from datetime import timedelta
from functools import partial
from typing import Any
from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from features.accounts import mail as sending
from features.accounts.registration import make_setup_link
from tests import factories
from tests.concurrency import run_concurrently
from tests.features.accounts.concurrent_hashing import ConcurrentHashing

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
FIELDS = {"username": "root", "email": "root@example.org", "password1": PASSWORD, "password2": PASSWORD}


@pytest.fixture(autouse=True)
def production(settings: Any) -> None:
    settings.DEVELOPMENT = False
    settings.SECURE_SSL_REDIRECT = False
    settings.SITE_ORIGIN = ""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def printed(**options: Any) -> str:
    out = io.StringIO()
    call_command("setup_link", stdout=out, **options)
    return out.getvalue()


def test_the_printed_link_makes_an_admin_once(settings: Any) -> None:
    settings.ALLOWED_HOSTS = settings.PAGE_HOSTS = ["*", ".example.org", "chat.example.org", "testserver"]
    settings.PORT = 8123
    found = re.search(r"http://chat\.example\.org:8123(/setup/\S+)", printed(if_needed=True))
    assert found
    browser = Client()
    assert 'name="password1"' in browser.get(found[1]).text
    assert browser.post(found[1], FIELDS)["Location"] == "/"
    user = User.objects.get(username="root")
    assert (user.is_staff, user.is_superuser, user.email) == (True, True, "root@example.org")
    assert browser.get("/admin/").status_code == 200
    again = Client()
    assert again.get(found[1]).status_code == 404
    assert again.post(found[1], FIELDS | {"username": "mallory"}).status_code == 404
    assert printed(if_needed=True) == ""
    with pytest.raises(CommandError):
        printed()


def test_the_printed_address_has_tls_unless_it_is_switched_off(settings: Any) -> None:
    settings.ALLOWED_HOSTS = settings.PAGE_HOSTS = ["chat.example.org"]
    settings.SECURE_SSL_REDIRECT = True
    assert "https://chat.example.org/setup/" in printed()


def test_accounts_without_rights_and_the_demo_account_are_no_admin() -> None:
    factories.create_user("alice")
    User.objects.create_superuser("demo", password="demo")
    assert Client().get(make_setup_link()).status_code == 200


def test_in_development_there_is_no_such_page(settings: Any) -> None:
    settings.DEVELOPMENT = True
    assert Client().get(make_setup_link()).status_code == 404
    assert printed(if_needed=True) == ""


def test_the_link_grows_old(settings: Any) -> None:
    link = make_setup_link()
    later = timezone.now() + timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT + 60)
    with mock.patch("django.core.signing.time.time", return_value=later.timestamp()):
        assert Client().get(link).status_code == 404


def test_guessed_links_are_refused_and_limited() -> None:
    statuses = {Client().get(f"/setup/guess:{number}/").status_code for number in range(60)}
    assert statuses == {404, 429}


@pytest.mark.parametrize(
    "fields",
    [
        {"password1": "short", "password2": "short"},
        {"password2": "another one"},
        {"username": ""},
        {"username": "Demo"},
        {"email": "nowhere"},
    ],
)
def test_what_no_account_may_have_is_refused_and_said(fields: dict[str, str]) -> None:
    answer = Client().post(make_setup_link(), FIELDS | fields)
    assert (answer.status_code, 'role="alert"' in answer.text) == (200, True)
    assert not User.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_with_e_mail_the_address_holds_when_its_link_is_opened(settings: Any) -> None:
    settings.SITE_ORIGIN = "http://testserver"
    settings.EMAIL_HOST = "mail.example.org"
    browser = Client()
    assert browser.post(make_setup_link(), FIELDS)["Location"] == "/profile/?notice=sent"
    # What was submitted before is done.
    sending._sender.submit(int).result(60)
    assert User.objects.get().email == ""
    found = re.search(r"http://testserver(/profile/address/\S+)", str(mail.outbox[-1].body))
    assert found
    browser.force_login(User.objects.get())
    browser.get(found[1])
    assert User.objects.get().email == "root@example.org"


@pytest.mark.django_db(transaction=True)
def test_of_several_who_have_opened_the_link_one_becomes_the_admin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("features.accounts.registration.hashing", ConcurrentHashing(4))
    link = make_setup_link()
    forms = [FIELDS | {"username": f"root{number}", "email": ""} for number in range(4)]
    used = run_concurrently(*(partial(Client().post, link, form) for form in forms))
    assert sorted(answer.status_code for answer in used) == [302, 404, 404, 404]
    assert User.objects.count() == 1
