"""Users see where they are logged in, and end it there."""

import logging
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as BrowserSession
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import Login
from chat.sweeper import retention
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "correct horse battery"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.5 Safari/605.1.15"
PAGE = "/profile/logins/"


@pytest.fixture(autouse=True)
def cheap_hashing(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def alice() -> User:
    user: User = factories.create_user("alice", PASSWORD)
    return user


def logged_in(name: str = "alice", user_agent: str = FIREFOX) -> Client:
    """By the form of the page."""
    browser = Client(headers={"User-Agent": user_agent})
    assert browser.post("/login/", {"username": name, "password": PASSWORD}).status_code == 302
    return browser


def login_of(browser: Client) -> Login:
    return Login.objects.get(session=browser.session.session_key)


def is_logged_in(browser: Client) -> bool:
    return bool(browser.get("/profile/").status_code == 200)


def test_each_login_is_listed_with_its_browser_and_the_present_one_is_marked(alice: User) -> None:
    assert PAGE in logged_in().get("/profile/").text
    page = logged_in(user_agent=SAFARI).get(PAGE).text
    assert [re.sub(r"<.*?>", "", row).split() for row in re.findall(r"<strong>.*?</strong>", page)] == [
        ["Safari", "on", "macOS"],
        ["Firefox", "on", "Windows"],
    ]
    assert page.count("This browser") == page.count("Last used") == 1


def test_logins_of_others_are_neither_shown_nor_ended(alice: User) -> None:
    factories.create_user("mallory", PASSWORD)
    hers, mallorys = logged_in(), logged_in("mallory", SAFARI)
    assert "Firefox" not in mallorys.get(PAGE).text
    for chosen in (login_of(hers).pk, "others"):
        mallorys.post(PAGE, {"login": chosen})
        assert is_logged_in(hers)


def test_a_login_by_a_former_key_is_listed_and_ended(alice: User, settings: Any) -> None:
    there = logged_in(user_agent=SAFARI)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "b" * 50
    here = logged_in()
    assert "Safari" in here.get(PAGE).text
    here.post(PAGE, {"login": login_of(there).pk})
    assert Login.objects.count() == 1


def test_one_login_is_ended(alice: User) -> None:
    here, there, elsewhere = logged_in(), logged_in(), logged_in()
    answer = here.post(PAGE, {"login": login_of(there).pk})
    assert answer["Location"] == f"{PAGE}?notice=ended"
    assert [is_logged_in(one) for one in (here, there, elsewhere)] == [True, False, True]
    assert Login.objects.count() == 2


def test_all_others_are_ended_also_those_that_have_no_row(alice: User) -> None:
    here, there, unnoted = logged_in(), logged_in(), logged_in()
    Login.objects.filter(session=unnoted.session.session_key).delete()
    here.post(PAGE, {"login": "others"})
    assert [is_logged_in(one) for one in (here, there, unnoted)] == [True, False, False]
    assert BrowserSession.objects.count() == Login.objects.count() == 1
    assert "Log out everywhere else" not in here.get(PAGE).text


@pytest.mark.parametrize("chosen", ["", "x", "9" * 19, "9" * 5000, "²"])
def test_what_is_no_login_ends_none(alice: User, chosen: str) -> None:
    here = logged_in()
    assert here.post(PAGE, {"login": chosen}).status_code == 302
    assert is_logged_in(here)


def test_a_changed_password_leaves_the_present_login_in_the_list(alice: User) -> None:
    here = logged_in()
    logged_in(user_agent=SAFARI)
    new = "a new and better one"
    fields = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert here.post("/password/", fields)["Location"] == "/"
    page = here.get(PAGE).text
    assert ("Firefox" in page, "Safari" in page) == (True, False)


def test_the_page_shows_no_key_of_a_session(alice: User) -> None:
    here, there = logged_in(), logged_in()
    page = here.get(PAGE).text
    assert not any(one.session.session_key in page for one in (here, there))


def test_the_use_of_a_login_is_stored_every_five_minutes(alice: User) -> None:
    here = logged_in()
    first = login_of(here)

    def use_elsewhere() -> Login:
        """In a process that has not seen the login."""
        cache.clear()
        here.get("/profile/")
        return login_of(here)

    assert use_elsewhere().used_at == first.used_at
    earlier = timezone.now() - timedelta(minutes=6)
    Login.objects.update(used_at=earlier)
    assert use_elsewhere().used_at > earlier
    assert login_of(here).created_at == first.created_at
    with CaptureQueriesContext(connection) as captured:
        here.get("/profile/")
    assert not [one for one in captured if "chat_login" in one["sql"]]


def test_an_anonymous_visitor_has_no_login(db: None) -> None:
    visitor = Client()
    visitor.get("/login/")
    assert visitor.get(PAGE)["Location"] == f"/login/?next={PAGE}"
    assert not Login.objects.exists()


def test_an_answer_does_not_fail_with_what_is_noted(
    alice: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise DatabaseError("gone")

    here = logged_in()
    cache.clear()
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(Login.objects, "use", fail)
        assert is_logged_in(here)
    assert "is not stored" in caplog.text


def test_a_user_agent_is_cut_and_may_have_any_characters(alice: User) -> None:
    assert login_of(logged_in(user_agent="Firefox/1\0" + "é" * 500)).user_agent.startswith("Firefox/1é")


def test_logging_out_and_sql_that_deletes_sessions_leave_no_row(alice: User) -> None:
    here = logged_in()
    logged_in()
    here.post("/logout/")
    assert Login.objects.count() == 1
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_session")
    assert not Login.objects.exists()


def test_a_deleted_account_has_no_login_left(alice: User) -> None:
    here = logged_in()
    logged_in()
    here.post("/profile/deletion/", {"current_password": PASSWORD})
    assert not BrowserSession.objects.exists()


def test_the_sweeper_deletes_expired_sessions(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "LOGINS_AT_ONCE", 2)
    kept, *former = [logged_in() for _ in range(4)]
    ended = [one.session.session_key for one in former]
    BrowserSession.objects.filter(pk__in=ended).update(expire_date=timezone.now() - timedelta(days=1))
    assert len(re.findall("<li>", kept.get(PAGE).text)) == 1
    purger = retention.LoginPurger()
    assert [purger.run(0.0), purger.run(1.0), purger.run(2.0)] == [2, 1, 0]
    assert is_logged_in(kept)
    assert Login.objects.count() == 1
