"""Users change their name and e-mail address; a new address holds when its owner has opened a link."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client

from features.accounts import mail as sending
from tests import factories

# Mail is sent by a thread.
pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def cheap_hashing(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def sends_mail(settings: Any) -> None:
    settings.EMAIL_HOST = "mail.example.org"
    settings.DEFAULT_FROM_EMAIL = "turnwire@example.org"


@pytest.fixture
def alice() -> User:
    return factories.create_user("alice", PASSWORD, email="alice@example.org")


@pytest.fixture
def browser(alice: User) -> Client:
    browser = Client()
    browser.force_login(alice)
    return browser


def save(browser: Client, **fields: str) -> Any:
    before = {"first_name": "", "last_name": "", "email": "alice@example.org"}
    answer = browser.post("/profile/", before | fields)
    # What was submitted before is done.
    sending._sender.submit(int).result(60)
    return answer


def address() -> str:
    return User.objects.get(username="alice").email


def sent_link() -> str:
    found = re.search(r"http://testserver(/profile/address/\S+)", str(mail.outbox[-1].body))
    assert found
    return found[1]


def test_a_name_is_saved_without_the_password_and_shown_on_the_page(browser: Client) -> None:
    assert save(browser, first_name="Alice", last_name="Liddell")["Location"] == "/profile/?notice=saved"
    assert "Alice Liddell" in browser.get("/").text
    assert User.objects.get(username="alice").check_password(PASSWORD)


@pytest.mark.parametrize("password", ["", "wrong"])
def test_another_address_needs_the_password(browser: Client, password: str) -> None:
    answer = save(browser, email="new@example.org", current_password=password, first_name="Alice")
    assert 'role="alert"' in answer.text
    assert (address(), User.objects.get(username="alice").first_name) == ("alice@example.org", "")


def test_the_password_is_guessed_no_faster_than_at_the_login(browser: Client) -> None:
    tries = [
        save(browser, email="new@example.org", current_password=f"wrong {n}").status_code for n in range(10)
    ]
    assert tries == [200] * 8 + [429] * 2


def test_without_a_mail_server_a_new_address_holds_at_once(browser: Client, settings: Any) -> None:
    settings.EMAIL_HOST = ""
    assert save(browser, email="new@example.org", current_password=PASSWORD).status_code == 302
    assert address() == "new@example.org"


def test_with_one_it_holds_when_its_link_is_opened_once(browser: Client, sends_mail: None) -> None:
    answer = save(browser, email="new@example.org", current_password=PASSWORD)
    assert (answer["Location"], address()) == ("/profile/?notice=sent", "alice@example.org")
    assert mail.outbox[-1].to == ["new@example.org"]
    link = sent_link()
    assert browser.get(link)["Location"] == "/profile/?notice=address"
    assert address() == "new@example.org"
    assert browser.get(link).status_code == 404


def test_the_link_is_for_its_user_who_is_logged_in(browser: Client, sends_mail: None) -> None:
    save(browser, email="new@example.org", current_password=PASSWORD)
    link = sent_link()
    mallory = Client()
    assert mallory.get(link)["Location"].startswith("/login/?next=/profile/address/")
    mallory.force_login(factories.create_user("mallory"))
    assert mallory.get(link).status_code == 404
    assert browser.get(f"{link[:-2]}x/").status_code == 404
    assert address() == "alice@example.org"
    assert User.objects.get(username="mallory").email == ""


def test_the_link_is_void_after_a_new_password(alice: User, browser: Client, sends_mail: None) -> None:
    """Who had the former password may have asked for it, and the owner may be led to it."""
    save(browser, email="new@example.org", current_password=PASSWORD)
    alice.set_password("another horse battery")
    alice.save()
    browser.force_login(alice)
    assert browser.get(sent_link()).status_code == 404
    assert address() == "alice@example.org"


def test_an_address_is_taken_away_without_a_confirmation(browser: Client, sends_mail: None) -> None:
    save(browser, email="", current_password=PASSWORD)
    assert (address(), [message.to for message in mail.outbox]) == ("", [["alice@example.org"]])


def test_no_mailbox_is_filled_with_confirmations(browser: Client, sends_mail: None) -> None:
    fields = {"email": "victim@example.org", "current_password": PASSWORD}
    assert [save(browser, **fields).status_code for _ in range(5)] == [302] * 3 + [429] * 2
    assert len(mail.outbox) == 3


def test_the_profile_needs_a_login(db: None) -> None:
    assert Client().get("/profile/")["Location"] == "/login/?next=/profile/"


def test_the_former_address_is_told_that_it_is_not_that_of_the_account_any_more(
    browser: Client, sends_mail: None
) -> None:
    save(browser, email="new@example.org", current_password=PASSWORD)
    browser.get(sent_link())
    sending._sender.submit(int).result(60)
    notice = mail.outbox[-1]
    assert notice.to == ["alice@example.org"]
    assert "not that of the account alice any more" in str(notice.body)
    assert "new@example.org" not in str(notice.body)


@pytest.mark.parametrize(
    "path",
    [
        "/profile/",
        "/profile/logins/",
        "/profile/deletion/",
        "/profile/code/",
        "/profile/passkeys/",
        "/password/",
        "/admin/",
    ],
)
def test_pages_of_an_account_are_kept_in_no_cache(path: str) -> None:
    user = User.objects.create_superuser("carol", password="carol")
    browser = Client()
    browser.force_login(user)
    kept = browser.get(path, follow=True)["Cache-Control"]
    assert {"no-store", "private"} <= set(kept.split(", "))
