"""Failed logins are limited by name, by address and by both, and no one is locked out by someone else."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.forms import AuthenticationForm
from django.core import signing
from django.db.models import F
from django.test import Client, RequestFactory
from rest_framework.test import APIClient

from chat.models import LoginLimit
from features.accounts import login_attempt
from features.accounts.login import LimitedLogin
from tests import factories
from tests.concurrency import run_concurrently
from tests.instance import ROOT

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse"
# As in production, but for the seconds: no machine is so slow that an attempt becomes free during a test.
SLOWNESS = 1000
PER_ADDRESS, PER_NAME, PER_NAME_AND_ADDRESS = (
    (at_once, seconds * SLOWNESS)
    for at_once, seconds in (
        login_attempt.PER_ADDRESS,
        login_attempt.PER_NAME,
        login_attempt.PER_NAME_AND_ADDRESS,
    )
)


@pytest.fixture(autouse=True)
def slow_refills(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login_attempt, "PER_ADDRESS", PER_ADDRESS)
    monkeypatch.setattr(login_attempt, "PER_NAME", PER_NAME)
    monkeypatch.setattr(login_attempt, "PER_NAME_AND_ADDRESS", PER_NAME_AND_ADDRESS)


@pytest.fixture
def alice() -> Any:
    return factories.create_user("alice", PASSWORD, is_staff=True)


def token(name: str = "alice", password: str = "wrong", address: str = "192.0.2.1") -> Any:
    body = {"username": name, "password": password}
    return APIClient().post("/api/auth/token/", body, format="json", REMOTE_ADDR=address)


def log_in(browser: Client, password: str = PASSWORD, address: str = "192.0.2.1") -> int:
    fields = {"username": "alice", "password": password}
    return browser.post("/login/", fields, REMOTE_ADDR=address).status_code


def attack_from_many_addresses() -> list[int]:
    """Guess alice's password until the limit of her name is reached."""
    return [token(address=f"198.51.100.{number}").status_code for number in range(PER_NAME[0] + 5)]


def pass_time(seconds: int) -> None:
    LoginLimit.objects.update(free_at=F("free_at") - timedelta(seconds=seconds))


def test_one_name_tried_from_many_addresses_is_slowed_down(alice: Any) -> None:
    assert attack_from_many_addresses() == [401] * PER_NAME[0] + [429] * 5
    refused = token(address="198.51.100.200")
    assert 0 < int(refused["Retry-After"]) <= PER_NAME[1]
    assert token("bob", address="198.51.100.200").status_code == 401


def test_the_owner_logs_in_from_a_known_browser_during_an_attack_on_the_name(alice: Any) -> None:
    browser = Client()
    assert log_in(browser) == 302
    assert browser.cookies["known_device"]["httponly"]
    browser.post("/logout/")
    attack_from_many_addresses()
    for _ in range(PER_NAME_AND_ADDRESS[0]):  # also someone at the same address does not lock it out
        token()
    assert token(password=PASSWORD).status_code == 429
    assert log_in(browser) == 302


def test_the_owner_waits_seconds_for_a_new_browser_during_an_attack_on_the_name(alice: Any) -> None:
    attack_from_many_addresses()
    refused = Client().post("/login/", {"username": "alice", "password": PASSWORD}, REMOTE_ADDR="203.0.113.5")
    assert refused.status_code == 429
    pass_time(int(refused["Retry-After"]))
    assert log_in(Client(), address="203.0.113.5") == 302


def test_a_known_browser_may_guess_no_more_than_an_unknown_one(alice: Any) -> None:
    browser = Client()
    log_in(browser)
    browser.post("/logout/")
    tries = [log_in(browser, "wrong", f"198.51.100.{number}") for number in range(10)]
    assert tries == [200] * PER_NAME_AND_ADDRESS[0] + [429] * 2


def test_a_browser_is_known_for_the_name_that_logged_in_there_only(alice: Any) -> None:
    factories.create_user("mallory", PASSWORD)
    browser = Client()
    browser.post("/login/", {"username": "mallory", "password": PASSWORD})
    browser.post("/logout/")
    attack_from_many_addresses()
    assert log_in(browser) == 429
    browser.cookies["known_device"] = "forged"
    assert log_in(browser) == 429


def test_a_password_tried_with_many_names_is_counted_by_address(alice: Any) -> None:
    spray = [token(f"name{number}", "Summer2026").status_code for number in range(PER_ADDRESS[0] + 3)]
    assert spray == [401] * PER_ADDRESS[0] + [429] * 3
    assert token(password=PASSWORD).status_code == 429
    assert token(password=PASSWORD, address="192.0.2.2").status_code == 200


def test_the_addresses_of_one_ipv6_network_share_their_limits(alice: Any) -> None:
    tries = [token(address=f"2001:db8:1:2::{number:x}").status_code for number in range(10)]
    assert tries == [401] * PER_NAME_AND_ADDRESS[0] + [429] * 2
    assert token(address="2001:db8:1:3::1").status_code == 401


@pytest.mark.parametrize("address", ["", "garbage", "192.0.2.1, 192.0.2.2", "[::1", "\x00"])
def test_an_unreadable_address_is_counted_and_no_error(alice: Any, address: str) -> None:
    tries = [token(address=address).status_code for _ in range(10)]
    assert tries == [401] * PER_NAME_AND_ADDRESS[0] + [429] * 2


def test_refused_attempts_do_not_prolong_the_wait(alice: Any) -> None:
    for _ in range(100):
        last = token()
    assert int(last["Retry-After"]) <= PER_NAME_AND_ADDRESS[1]
    pass_time(PER_NAME_AND_ADDRESS[1])
    assert token(password=PASSWORD).status_code == 200


def test_limits_that_are_full_again_leave_no_rows(alice: Any) -> None:
    token()
    pass_time(3600 * SLOWNESS)
    token("bob", address="192.0.2.2")
    assert LoginLimit.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_attempts_side_by_side_count_before_the_first_is_checked(alice: Any) -> None:
    """Of many at once, no more reach the password check than the limit allows."""
    statuses = [answer.status_code for answer in run_concurrently(*[token] * 20, connected=False)]
    assert len(statuses) == 20
    assert set(statuses) <= {401, 429}
    assert statuses.count(401) <= PER_NAME_AND_ADDRESS[0]


def test_every_way_to_log_in_is_limited() -> None:
    """A view that checks passwords without the limits would be a way around them."""
    assert issubclass(LimitedLogin, AuthenticationForm)
    unlimited = {
        str(path.relative_to(ROOT))
        for folder in ("chat", "web", "features", "config")
        for path in (ROOT / folder).rglob("*.py")
        for text in [path.read_text(encoding="utf-8")]
        if re.search(r"(?<!def )(?<!super\(\)\.)\bauthenticate\(|LoginView\.as_view|check_password\(", text)
        and not re.search(r"login_attempt\(|LimitedLogin|hashing\.slot\(", text)
    }
    assert unlimited == set()


def test_a_browser_that_an_earlier_version_has_marked_stays_known() -> None:
    request = RequestFactory().get("/")
    request.COOKIES["known_device"] = signing.dumps(("alice", "laptop"), salt="web.accounts.known_device")
    assert login_attempt.read_device(request, "alice") == "laptop"
