"""An account with a second factor is entered with the password and a code, each code once."""

import re
import time
from functools import partial
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.test import Client

from chat.models import LoginLimit
from features.accounts import second_factor as codes
from features.accounts.second_factor import PERIOD_S, is_right, period_of
from tests import factories
from tests.authenticator_app import code_of
from tests.concurrency import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "correct horse battery"
LOGIN = {"username": "alice", "password": PASSWORD}
PAGE, CODE = "/profile/code/", "/login/code/"


class App:
    """What is on the phone. Each code is of a later period than the one before: the clock of the server waits for nobody."""

    def __init__(self, secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.secret = secret
        self.now = time.time()
        monkeypatch.setattr(codes.time, "time", lambda: self.now)

    def code(self, *, later: int = 1) -> str:
        self.now += later * PERIOD_S
        return code_of(self.secret, int(self.now) // PERIOD_S)


@pytest.fixture
def alice() -> Client:
    factories.create_user("alice", PASSWORD)
    browser = Client()
    assert browser.post("/login/", LOGIN)["Location"] == "/"
    return browser


@pytest.fixture
def app(alice: Client, monkeypatch: pytest.MonkeyPatch) -> App:
    page = alice.get(PAGE)
    assert "data:image/svg+xml;base64," in page.text
    return App(page.context["secret"], monkeypatch)


@pytest.fixture
def recovery(alice: Client, app: App) -> list[str]:
    """After the second factor was switched on: its recovery codes."""
    page = alice.post(PAGE, {"current_password": PASSWORD, "code": app.code(), "action": "on"})
    return re.findall(r"<li>(\d{8})</li>", page.text)


def half_logged_in() -> Client:
    browser = Client()
    assert browser.post("/login/", LOGIN | {"next": "/profile/"})["Location"] == CODE
    assert browser.get("/profile/").status_code == 302
    return browser


def is_logged_in(browser: Client) -> bool:
    return bool(browser.get("/profile/").status_code == 200)


def test_a_login_that_waits_for_its_code_ends_with_logins_by_password(
    recovery: list[str], app: App, settings: Any
) -> None:
    browser = half_logged_in()
    settings.PASSWORD_LOGIN = False
    assert browser.post(CODE, {"code": app.code()})["Location"] == "/login/?notice=expired"
    assert not is_logged_in(browser)


def test_a_new_password_ends_logins_that_wait_for_their_code(recovery: list[str], app: App) -> None:
    browser = half_logged_in()
    user = User.objects.get()
    user.set_password("another horse battery")
    user.save()
    assert browser.post(CODE, {"code": app.code()})["Location"] == "/login/?notice=expired"
    assert not is_logged_in(browser)


def test_a_login_asks_for_the_code_after_the_password(recovery: list[str], app: App) -> None:
    browser = half_logged_in()
    wrong = browser.post(CODE, {"code": "000000"})
    assert (wrong.status_code, "not right" in wrong.text) == (200, True)
    assert not is_logged_in(browser)
    assert browser.post(CODE, {"code": app.code()})["Location"] == "/profile/"
    assert is_logged_in(browser)
    assert Client().post("/login/", LOGIN | {"password": "wrong"}).status_code == 200


def test_a_code_and_a_recovery_code_are_used_once(recovery: list[str], app: App) -> None:
    assert len(set(recovery)) == 10
    for code in (app.code(), recovery[3]):
        assert half_logged_in().post(CODE, {"code": code}).status_code == 302
        replayed = half_logged_in()
        assert replayed.post(CODE, {"code": code}).status_code == 200
        assert not is_logged_in(replayed)


def test_of_logins_with_one_code_side_by_side_one_succeeds(recovery: list[str], app: App) -> None:
    code, browsers = app.code(), [half_logged_in() for _ in range(4)]
    used = run_concurrently(*(partial(browser.post, CODE, {"code": code}) for browser in browsers))
    assert sorted(answer.status_code for answer in used) == [200, 200, 200, 302]


def test_codes_are_guessed_slowly_whatever_the_address(recovery: list[str], app: App) -> None:
    statuses = []
    for number in range(7):
        browser = half_logged_in()
        statuses.append(browser.post(CODE, {"code": "12345"}, REMOTE_ADDR=f"192.0.2.{number}").status_code)
    assert statuses == [200] * 5 + [429] * 2
    assert half_logged_in().post(CODE, {"code": app.code()}).status_code == 429


def test_guesses_of_a_day_are_counted_until_there_is_another_password(recovery: list[str], app: App) -> None:
    browser, statuses = half_logged_in(), []
    for number in range(codes.PER_PASSWORD[0] + 1):
        # The limit of a minute has room again, as it has for who guesses slowly.
        LoginLimit.objects.forget(codes.charge(codes.PER_ACCOUNT, "code", str(User.objects.get().pk)))
        answer = browser.post(CODE, {"code": "12345"}, REMOTE_ADDR=f"192.0.{number}.1")
        statuses.append(answer.status_code)
    assert statuses == [200] * 30 + [429]
    assert browser.post(CODE, {"code": app.code()}).status_code == 429
    user = User.objects.get()
    user.set_password(PASSWORD)
    user.save()
    browser = half_logged_in()
    assert browser.post(CODE, {"code": app.code()}).status_code == 302
    assert is_logged_in(browser)


def test_the_code_alone_is_no_way_in_and_the_password_is_one_for_minutes(
    recovery: list[str], app: App, settings: Any
) -> None:
    assert Client().get(CODE)["Location"] == "/login/?notice=expired"
    browser = half_logged_in()
    settings.ACCOUNT_LOGIN_TIMEOUT = -1
    assert browser.post(CODE, {"code": app.code()})["Location"] == "/login/?notice=expired"
    settings.ACCOUNT_LOGIN_TIMEOUT = 900
    browser = half_logged_in()
    User.objects.update(is_active=False)
    assert browser.post(CODE, {"code": app.code()}).status_code == 302
    assert not is_logged_in(browser)


def test_no_other_login_by_password_goes_past_it(recovery: list[str]) -> None:
    User.objects.update(is_staff=True)
    browser = Client()
    page = browser.post("/admin/login/", LOGIN)
    assert "asks for a code too" in page.text
    assert not is_logged_in(browser)
    assert browser.post("/api/auth/token/", LOGIN, content_type="application/json").status_code == 403


def test_it_is_switched_on_with_the_password_and_a_code_of_the_app(alice: Client, app: App) -> None:
    for fields in ({"current_password": "wrong", "code": app.code()}, {"code": "000000"}):
        body = {"current_password": PASSWORD, "action": "on"} | fields
        assert 'role="alert"' in alice.post(PAGE, body).text
    assert alice.get(PAGE).context["secret"] == app.secret
    assert not Authenticator.objects.exists()


def test_it_is_switched_off_and_gets_new_recovery_codes_with_both(
    alice: Client, recovery: list[str], app: App
) -> None:
    def post(action: str, code: str, password: str = PASSWORD) -> Any:
        return alice.post(PAGE, {"current_password": password, "code": code, "action": action})

    for action in ("off", "codes"):
        assert 'role="alert"' in post(action, "000000").text
        assert 'role="alert"' in post(action, app.code(), "wrong").text
    fresh = re.findall(r"<li>(\d{8})</li>", post("codes", app.code()).text)
    assert not set(fresh) & set(recovery)
    assert half_logged_in().post(CODE, {"code": recovery[0]}).status_code == 200
    assert post("off", fresh[0])["Location"] == f"{PAGE}?notice=off"
    assert not Authenticator.objects.exists()
    assert Client().post("/login/", LOGIN)["Location"] == "/"


def test_secrets_are_encrypted_in_the_database(recovery: list[str], app: App, settings: Any) -> None:
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert app.secret not in stored
    former = settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another one", [former]
    assert half_logged_in().post(CODE, {"code": app.code()}).status_code == 302
    settings.SECRET_KEY_FALLBACKS = []
    for code in (app.code(), recovery[0]):
        assert "not right" in half_logged_in().post(CODE, {"code": code}).text


def test_staff_switch_it_off_for_who_has_lost_everything(recovery: list[str]) -> None:
    user = User.objects.get()
    root = Client()
    root.force_login(User.objects.create_superuser("root"))
    place = f"/admin/auth/user/{user.pk}/change/"
    form = root.get(place)
    rows = form.context["inline_admin_formsets"][0].formset
    stored = {name: form.context["adminform"].form[name].value() for name in ("username", "email")}
    body = stored | {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00", "is_active": "on"}
    body |= {"authenticator_set-TOTAL_FORMS": 2, "authenticator_set-INITIAL_FORMS": 2}
    for number, row in enumerate(rows.forms):
        prefix = f"authenticator_set-{number}"
        body |= {f"{prefix}-id": row.instance.pk, f"{prefix}-user": user.pk, f"{prefix}-DELETE": "on"}
    assert root.post(place, body).status_code == 302
    assert not Authenticator.objects.exists()
    assert Client().post("/login/", LOGIN)["Location"] == "/"


def test_codes_of_the_period_before_and_after_are_right(rf: Any) -> None:
    secret, now = "A" * 32, int(time.time()) // PERIOD_S
    right = [period_of(secret, code_of(secret, now + n)) for n in (-3, 0, 3)]
    assert right == [None, now, None]
    user = factories.create_user("bob", PASSWORD)
    assert not is_right(rf.get("/"), user, "123456"), "without a second factor no code is right"
    assert LoginLimit.objects.exists()


def test_a_form_of_another_tab_does_not_switch_it_off(alice: Client, recovery: list[str], app: App) -> None:
    """The page was opened before it was switched on, and is sent afterwards."""
    stale = alice.post(PAGE, {"current_password": PASSWORD, "code": app.code(), "action": "on"})
    assert stale["Location"] == PAGE
    assert half_logged_in().post(CODE, {"code": recovery[0]}).status_code == 302


def test_switching_it_on_twice_side_by_side_leaves_it_on(alice: Client, app: App) -> None:
    user = User.objects.get()
    made = run_concurrently(*[partial(codes.switch_on, user, app.secret, 1)] * 3)
    assert len(made) == 3
    assert Authenticator.objects.filter(user=user).count() == 2


def test_the_code_of_an_account_that_was_deleted_meanwhile_is_asked_for_no_more(
    recovery: list[str], app: App
) -> None:
    browser = half_logged_in()
    User.objects.all().delete()
    assert browser.get(CODE)["Location"] == "/login/?notice=expired"


def test_the_page_that_asks_for_a_code_is_kept_in_no_cache(recovery: list[str]) -> None:
    page = half_logged_in().get(CODE)
    assert page.status_code == 200
    assert {"no-store", "private"} <= set(page["Cache-Control"].split(", "))
