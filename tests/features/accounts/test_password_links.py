"""Links with which a password is set: made by staff, sent by e-mail, used once."""

import re
from datetime import timedelta
from functools import partial
from typing import Any
from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core import mail
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken
from rest_framework.test import APIClient

from features.accounts import mail as sending
from features.accounts.login_attempt import PER_ADDRESS
from features.accounts.passwords import make_password_link
from tests import factories
from tests.concurrency import run_concurrently
from tests.features.accounts.concurrent_hashing import ConcurrentHashing

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
NEW = "a new and better one"
FIELDS = {"new_password1": NEW, "new_password2": NEW}


@pytest.fixture(autouse=True)
def cheap_hashing(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def alice() -> User:
    return factories.create_user("alice", PASSWORD, email="Alice@example.org")


def open_link(browser: Client, link: str) -> str:
    """Return the address of the form behind a right link."""
    return browser.get(link)["Location"]


def set_password(link: str, **fields: str) -> Any:
    browser = Client()
    return browser.post(open_link(browser, link), FIELDS | fields)


def may_enter(password: str, name: str = "alice") -> bool:
    return Client().login(username=name, password=password)


def test_a_link_sets_a_password_once_and_leads_to_the_login(alice: User) -> None:
    link = make_password_link(alice)
    answer = set_password(link)
    assert (answer.status_code, answer["Location"]) == (302, "/login/?notice=password")
    assert (may_enter(NEW), may_enter(PASSWORD)) == (True, False)
    again = Client().get(link)
    assert (again.status_code, b"new_password1" in again.content) == (200, False)


def test_the_token_is_not_in_the_address_of_the_form(alice: User) -> None:
    link = make_password_link(alice)
    token = link.rstrip("/").rpartition("/")[2]
    browser = Client()
    place = open_link(browser, link)
    form = browser.get(place)
    assert token not in place + form.text
    assert "alice" in form.text
    assert form["Cache-Control"].startswith("max-age=0, no-cache, no-store")


def test_setting_a_password_ends_every_login_and_the_tokens_unless_they_are_kept(alice: User) -> None:
    elsewhere = Client()
    elsewhere.force_login(alice)
    robot = APIClient()
    _, token = AuthToken.objects.create(alice)
    robot.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    set_password(make_password_link(alice))
    assert elsewhere.get("/api/sessions/").status_code == 401
    assert robot.get("/api/sessions/").status_code == 200
    set_password(make_password_link(User.objects.get(pk=alice.pk)), deletes_tokens="on")
    assert robot.get("/api/sessions/").status_code == 401


def test_a_link_grows_old(alice: User, settings: Any) -> None:
    link = make_password_link(alice)
    later = (timezone.now() + timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT + 60)).replace(tzinfo=None)
    with mock.patch.object(default_token_generator, "_now", return_value=later):
        assert "Location" not in Client().get(link)


def test_a_login_makes_earlier_links_void(alice: User) -> None:
    link = make_password_link(alice)
    Client().post("/login/", {"username": "alice", "password": PASSWORD})
    assert "Location" not in Client().get(link)


def test_a_weak_password_is_refused_and_the_link_stays(alice: User) -> None:
    link = make_password_link(alice)
    answer = set_password(link, new_password1="short", new_password2="short")
    assert 'role="alert"' in answer.text
    assert set_password(link).status_code == 302


@pytest.mark.parametrize("fields", [{"is_active": False}, {"username": "demo"}])
def test_an_account_that_may_not_log_in_has_no_link(
    alice: User, settings: Any, fields: dict[str, Any]
) -> None:
    settings.DEVELOPMENT = False
    link = make_password_link(alice)
    User.objects.filter(pk=alice.pk).update(**fields)
    assert "Location" not in Client().get(link)


def test_a_user_without_a_password_gets_one_by_a_link() -> None:
    set_password(make_password_link(User.objects.create_user("carol")))
    assert may_enter(NEW, "carol")


def test_whoever_set_a_password_logs_in_although_others_guess(alice: User) -> None:
    for _ in range(10):
        Client().post("/login/", {"username": "alice", "password": "wrong"})
    browser = Client()
    browser.post(open_link(browser, make_password_link(alice)), FIELDS)
    assert browser.post("/login/", {"username": "alice", "password": NEW}).status_code == 302


def test_wrong_links_count_for_their_address_like_wrong_passwords(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = PER_ADDRESS[0]
    monkeypatch.setattr("features.accounts.login_attempt.PER_ADDRESS", (at_once, 15_000))
    link = make_password_link(alice)
    right = [Client().get(link).status_code for _ in range(at_once + 1)]
    wrong = [Client().get(f"{link[:-2]}-{n}/").status_code for n in range(at_once + 1)]
    assert right == [302] * len(right)
    assert wrong == [200] * at_once + [429]
    assert Client().get(link).status_code == 429
    assert Client().get(link, REMOTE_ADDR="192.0.2.9").status_code == 302


@pytest.mark.django_db(transaction=True)
def test_of_requests_with_one_link_side_by_side_one_sets_the_password(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("features.accounts.passwords.hashing", ConcurrentHashing(4))
    link = make_password_link(alice)
    browsers = [Client() for _ in range(4)]
    places = [open_link(browser, link) for browser in browsers]
    passwords = [dict.fromkeys(FIELDS, f"{NEW} {number}") for number in range(len(browsers))]
    used = run_concurrently(
        *(partial(one.post, *form) for one, *form in zip(browsers, places, passwords, strict=True))
    )
    assert sorted(answer.status_code for answer in used) == [200, 200, 200, 302]


class TestMail:
    """Sent by a thread, which sees what was committed."""

    pytestmark = pytest.mark.django_db(transaction=True)

    @pytest.fixture(autouse=True)
    def sends_mail(self, settings: Any) -> None:
        settings.EMAIL_HOST = "mail.example.org"
        settings.DEFAULT_FROM_EMAIL = "turnwire@example.org"

    def ask(self, address: str, **extra: Any) -> Any:
        answer = Client().post("/password/reset/", {"email": address}, **extra)
        # What was submitted before is done.
        sending._sender.submit(int).result(60)
        return answer

    def test_the_link_in_the_mail_sets_the_password(self, alice: User) -> None:
        assert self.ask("alice@EXAMPLE.org").status_code == 302
        (message,) = mail.outbox
        assert (message.to, message.from_email) == (["Alice@example.org"], "turnwire@example.org")
        found = re.search(r"http://testserver(/password/link/\S+)", str(message.body))
        assert found
        set_password(found[1])
        assert may_enter(NEW)

    def test_the_mail_is_in_the_language_of_the_page(self, alice: User) -> None:
        self.ask("alice@example.org", HTTP_ACCEPT_LANGUAGE="de")
        assert "Öffne diesen Link" in str(mail.outbox[0].body)

    def test_an_unknown_address_gets_the_same_answer_and_no_mail(self, alice: User) -> None:
        known, unknown = self.ask("alice@example.org"), self.ask("nobody@example.org")
        assert (known.status_code, known["Location"]) == (unknown.status_code, unknown["Location"])
        assert known.content == unknown.content
        assert len(mail.outbox) == 1

    def test_accounts_that_may_not_log_in_or_have_no_password_get_none(self) -> None:
        factories.create_user("former", PASSWORD, email="former@example.org", is_active=False)
        User.objects.create_user("other", email="other@example.org")
        self.ask("former@example.org")
        self.ask("other@example.org")
        assert mail.outbox == []

    def test_a_mailbox_is_not_filled_whether_it_is_known_or_not(self, alice: User) -> None:
        for address in ("alice@example.org", "nobody@example.org"):
            tries = [self.ask(address, REMOTE_ADDR=f"192.0.2.{n}").status_code for n in range(5)]
            assert tries == [302] * 3 + [429] * 2, address
        assert len(mail.outbox) == 3

    def test_one_address_asks_for_few_mailboxes(self, alice: User) -> None:
        tries = [self.ask(f"name{n}@example.org").status_code for n in range(12)]
        assert tries == [302] * 10 + [429] * 2

    def test_a_server_that_fails_is_logged_and_the_next_mail_is_sent(
        self, alice: User, caplog: pytest.LogCaptureFixture
    ) -> None:
        with mock.patch("django.core.mail.EmailMultiAlternatives.send", side_effect=OSError("refused")):
            assert self.ask("alice@example.org").status_code == 302
        assert "Failed to send password reset email" in caplog.text
        self.ask("alice@example.org")
        assert len(mail.outbox) == 1

    def test_without_a_mail_server_the_page_says_who_helps(self, settings: Any) -> None:
        settings.EMAIL_HOST = ""
        page = Client().get("/password/reset/").text
        assert "Ask an administrator" in page
        assert 'type="email"' not in page


class TestAdmin:
    @pytest.fixture
    def root(self) -> Client:
        browser = Client()
        browser.force_login(User.objects.create_superuser("root", password=PASSWORD))
        return browser

    def test_staff_make_a_link_which_is_shown_once_and_logged_without_it(
        self, root: Client, alice: User
    ) -> None:
        place = f"/admin/auth/user/{alice.pk}/password-link/"
        assert place in root.get(f"/admin/auth/user/{alice.pk}/change/").text
        assert "/password/link/" not in root.get(place).text
        found = re.search(r'value="http://testserver(/password/link/[^"]+)"', root.post(place).text)
        assert found
        assert "/password/link/" not in root.get(place).text
        history = root.get(f"/admin/auth/user/{alice.pk}/history/").text
        assert "Made a link to set the password." in history
        assert found[1] not in history
        set_password(found[1])
        assert may_enter(NEW)

    def test_it_leads_to_the_configured_origin(self, root: Client, alice: User, settings: Any) -> None:
        settings.SITE_ORIGIN = "https://chat.example.org"
        answer = root.post(f"/admin/auth/user/{alice.pk}/password-link/")
        assert 'value="https://chat.example.org/password/link/' in answer.text

    def test_a_deactivated_user_gets_no_link(self, root: Client, alice: User) -> None:
        User.objects.filter(pk=alice.pk).update(is_active=False)
        answer = root.post(f"/admin/auth/user/{alice.pk}/password-link/")
        assert (answer.status_code, "/password/link/" in answer.text) == (200, False)

    def test_a_user_who_does_not_exist_is_not_found(self, root: Client) -> None:
        assert root.post("/admin/auth/user/0/password-link/").status_code == 404


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "host", ["mallory.example.org", "testserver:1234", "testserver:80@mallory.example.org"]
)
def test_the_link_leads_to_the_configured_origin_whatever_the_request_says(
    settings: Any, alice: User, host: str
) -> None:
    settings.ALLOWED_HOSTS, settings.EMAIL_HOST = ["*"], "mail.example.org"
    settings.SITE_ORIGIN = "https://chat.example.org:8443"
    settings.DEFAULT_FROM_EMAIL = "turnwire@example.org"
    Client().post("/password/reset/", {"email": "alice@example.org"}, headers={"Host": host})
    sending._sender.submit(int).result(60)
    assert len(mail.outbox) == (0 if "@" in host else 1)  # which is no host, and refused
    for message in mail.outbox:
        assert "https://chat.example.org:8443/password/link/" in str(message.body)
        assert "mallory" not in str(message.body)
        assert ":1234" not in str(message.body)
