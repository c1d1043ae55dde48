"""A passkey is a second factor after the password, and a login without one; what answers wrongly is refused."""

import json
import logging
import re
import time
from functools import partial
from typing import Any

import pytest
from allauth.mfa.models import Authenticator as Row
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation

from chat.models import Login, LoginLimit
from features.accounts import mail
from features.accounts import passkeys as stored
from features.accounts import second_factor as codes
from tests import factories
from tests.authenticator import Authenticator
from tests.authenticator_app import code_of
from tests.concurrency import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "correct horse battery"
LOGIN = {"username": "alice", "password": PASSWORD}
PAGE, OPTIONS, CODES = "/profile/passkeys/", "/profile/passkeys/options/", "/profile/passkeys/codes/"
ALONE, SECOND = "/login/passkey/", "/login/code/passkey/"


def browser() -> Client:
    return Client(HTTP_HOST="localhost")


def log_in(name: str = "alice") -> Client:
    one = browser()
    assert one.post("/login/", LOGIN | {"username": name})["Location"] == "/"
    return one


def half_logged_in() -> Client:
    one = browser()
    assert one.post("/login/", LOGIN | {"next": "/profile/"})["Location"] == "/login/code/"
    return one


def is_logged_in(one: Client) -> bool:
    return bool(one.get("/profile/").status_code == 200)


def creation_options(one: Client, password: str = PASSWORD) -> Any:
    return one.post(OPTIONS, {"current_password": password}).json()


def add(one: Client, device: Authenticator, name: str = "Phone", **answer: Any) -> Any:
    options = creation_options(one)["options"]
    return one.post(PAGE, {"credential": device.make(options, **answer), "name": name})


def options_of(one: Client, place: str) -> dict[str, Any]:
    asked = one.post(f"{place}options/").json()["options"]
    assert isinstance(asked, dict)
    return asked


@pytest.fixture
def alice() -> Client:
    factories.create_user("alice", PASSWORD)
    return log_in()


@pytest.fixture
def phone() -> Authenticator:
    return Authenticator()


@pytest.fixture
def recovery(alice: Client, phone: Authenticator) -> list[str]:
    """After the first passkey was added: the recovery codes."""
    return re.findall(r"<li>(\d{8})</li>", add(alice, phone).text)


def test_the_first_passkey_brings_recovery_codes_and_the_next_keep_them(
    alice: Client, recovery: list[str]
) -> None:
    assert len(set(recovery)) == 10
    assert add(alice, Authenticator(), "Key")["Location"] == f"{PAGE}?notice=added"
    page = alice.get(PAGE).text
    assert "Phone" in page
    assert "Key" in page
    assert "Not used yet" in page
    assert half_logged_in().post("/login/code/", {"code": recovery[0]}).status_code == 302


def test_a_passkey_logs_in_alone_and_asks_for_nothing_else(recovery: list[str], phone: Authenticator) -> None:
    one = browser()
    options = options_of(one, ALONE)
    assert options["userVerification"] == "required"
    assert "allowCredentials" not in options
    sent = one.post(ALONE, {"credential": phone.answer(options), "next": "/profile/"})
    assert sent["Location"] == "/profile/"
    assert is_logged_in(one)
    assert "known_device" in one.cookies
    row = Row.objects.get(type="webauthn")
    assert row.last_used_at is not None
    assert one.get(ALONE).status_code == 302, "who is logged in stays it"


def test_after_the_password_a_passkey_stands_for_the_code(recovery: list[str], phone: Authenticator) -> None:
    one = half_logged_in()
    page = one.get("/login/code/").text
    assert SECOND in page
    assert "A recovery code" in page
    options = options_of(one, SECOND)
    assert [each["id"] for each in options["allowCredentials"]] == [json.loads(phone.answer(options))["id"]]
    assert one.post(SECOND, {"credential": phone.answer(options)})["Location"] == "/profile/"
    assert is_logged_in(one)


def test_without_verifying_its_user_it_is_a_second_factor_alone(alice: Client) -> None:
    key = Authenticator(verifies=False)
    add(alice, key, credProps={"rk": False})
    assert "Only after the password" in alice.get(PAGE).text
    one = browser()
    assert "not accepted" in one.post(ALONE, {"credential": key.answer(options_of(one, ALONE))}).text
    assert not is_logged_in(one)
    one = half_logged_in()
    assert one.post(SECOND, {"credential": key.answer(options_of(one, SECOND))}).status_code == 302


@pytest.mark.parametrize(
    "origin",
    ["https://localhost", "http://evil.localhost", "http://localhost:8000", "https://example.org", ""],
)
@pytest.mark.parametrize("place", [ALONE, SECOND])
def test_an_answer_to_another_site_is_refused(
    recovery: list[str], phone: Authenticator, origin: str, place: str
) -> None:
    one = browser() if place == ALONE else half_logged_in()
    answer = phone.answer(options_of(one, place), origin=origin)
    assert "not accepted" in one.post(place, {"credential": answer}).text
    assert not is_logged_in(one)


def test_a_passkey_for_another_site_is_not_added(alice: Client, phone: Authenticator) -> None:
    assert "not accepted" in add(alice, phone, origin="https://example.org").text
    assert not Row.objects.exists()


def test_the_passkey_of_another_account_is_refused(recovery: list[str], phone: Authenticator) -> None:
    factories.create_user("bob", PASSWORD)
    bob, device = log_in("bob"), Authenticator()
    add(bob, device)
    one = half_logged_in()
    for handle in (None, b"", phone.handle, b"no number", b"9" * 30):
        answer = device.answer(options_of(one, SECOND), handle=handle)
        assert "not accepted" in one.post(SECOND, {"credential": answer}).text
        LoginLimit.objects.all().delete()
    assert not is_logged_in(one)
    one = browser()
    for handle in (phone.handle, b"", b"no number", b"9" * 30):
        answer = device.answer(options_of(one, ALONE), handle=handle)
        assert "not accepted" in one.post(ALONE, {"credential": answer}).text
    assert not is_logged_in(one)


def test_a_challenge_is_answered_once_in_its_own_session(recovery: list[str], phone: Authenticator) -> None:
    one, other = browser(), browser()
    answer = phone.answer(options_of(one, ALONE))
    assert "not accepted" in other.post(ALONE, {"credential": answer}).text
    options_of(other, ALONE)
    assert "not accepted" in other.post(ALONE, {"credential": answer}).text
    assert one.post(ALONE, {"credential": answer}).status_code == 302
    one.post("/logout/")
    assert "not accepted" in one.post(ALONE, {"credential": answer}).text
    wrong = browser()
    options = options_of(wrong, ALONE)
    wrong.post(ALONE, {"credential": "{}"})
    assert "not accepted" in wrong.post(ALONE, {"credential": phone.answer(options)}).text, (
        "used by a wrong one"
    )


def test_an_answer_replayed_side_by_side_is_accepted_once(alice: Client, recovery: list[str]) -> None:
    pk = Row.objects.get(type="webauthn").pk
    answers = run_concurrently(*[partial(stored.use, pk, sign_count=0, challenge="the same")] * 4)
    assert sorted(answer or "" for answer in answers) == ["", *["the challenge was answered before"] * 3]


def test_an_answer_comes_within_minutes(
    recovery: list[str], phone: Authenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = browser()
    answer, now = phone.answer(options_of(one, ALONE)), time.time()
    monkeypatch.setattr(stored.time, "time", lambda: now + stored.MAX_AGE_S + 1)
    assert "not accepted" in one.post(ALONE, {"credential": answer}).text


def test_challenges_of_one_purpose_are_no_answer_to_another(
    alice: Client, recovery: list[str], phone: Authenticator
) -> None:
    one = half_logged_in()
    answer = phone.answer(options_of(one, SECOND))
    assert "not accepted" in one.post(ALONE, {"credential": answer}).text
    answer = phone.answer(options_of(one, ALONE))
    assert "not accepted" in one.post(SECOND, {"credential": answer}).text
    assert not is_logged_in(one)


def test_a_counter_that_goes_back_is_that_of_a_copy(alice: Client, caplog: Any) -> None:
    key = Authenticator(counter=5)
    add(alice, key)
    one = browser()
    assert one.post(ALONE, {"credential": key.answer(options_of(one, ALONE))}).status_code == 302
    assert Row.objects.get(type="webauthn").data["sign_count"] == 6
    for counter in (5, 4):  # the same as before, and less
        key.counter = counter
        copy = browser()
        assert "not accepted" in copy.post(ALONE, {"credential": key.answer(options_of(copy, ALONE))}).text
    key.counter = 0
    copy = browser()
    assert "not accepted" in copy.post(ALONE, {"credential": key.answer(options_of(copy, ALONE))}).text
    assert "its counter went from 6 to" in caplog.text
    key.counter = 6
    one = browser()
    assert one.post(ALONE, {"credential": key.answer(options_of(one, ALONE))}).status_code == 302


def test_it_is_added_with_the_password_alone_and_by_who_is_logged_in(
    alice: Client, phone: Authenticator
) -> None:
    assert "entered incorrectly" in creation_options(alice, "wrong")["message"]
    assert "message" in creation_options(browser())
    assert browser().get(PAGE)["Location"].startswith("/login/")
    made = phone.make({"user": {"id": "MQ"}, "rp": {"id": "localhost"}, "challenge": b"0" * 32})
    assert "not accepted" in alice.post(PAGE, {"credential": made}).text
    statuses = [alice.post(OPTIONS, {"current_password": "wrong"}).status_code for _ in range(10)]
    assert statuses[-1] == 429
    assert not Row.objects.exists()


def test_it_is_renamed_and_removed_by_its_owner_with_the_password(
    alice: Client, recovery: list[str], phone: Authenticator
) -> None:
    place = f"{PAGE}{Row.objects.get(type='webauthn').pk}/"
    factories.create_user("bob", PASSWORD)
    bob = log_in("bob")
    for body in ({"action": "rename", "name": "Mine"}, {"current_password": PASSWORD}):
        assert bob.get(place).status_code == bob.post(place, body).status_code == 404
    assert (
        alice.post(place, {"action": "rename", "name": "Old phone"})["Location"] == f"{PAGE}?notice=renamed"
    )
    assert "Old phone" in alice.get(PAGE).text
    assert 'role="alert"' in alice.post(place, {"action": "rename", "name": "x" * 61}).text
    assert "entered incorrectly" in alice.post(place, {"current_password": "wrong"}).text
    assert alice.post(place, {"current_password": PASSWORD})["Location"] == f"{PAGE}?notice=removed"
    assert not Row.objects.exists(), "the recovery codes went with the last second factor"
    log_in()
    one = browser()
    assert "not accepted" in one.post(ALONE, {"credential": phone.answer(options_of(one, ALONE))}).text


def test_the_app_and_passkeys_share_the_recovery_codes(alice: Client, recovery: list[str]) -> None:
    secret = alice.get("/profile/code/").context["secret"]
    code = code_of(secret, int(time.time()) // 30)
    body = {"current_password": PASSWORD, "code": code, "action": "on"}
    assert alice.post("/profile/code/", body)["Location"] == "/profile/code/?notice=on"
    assert half_logged_in().post("/login/code/", {"code": recovery[0]}).status_code == 302
    place = f"{PAGE}{Row.objects.get(type='webauthn').pk}/"
    alice.post(place, {"current_password": PASSWORD})
    assert half_logged_in().post("/login/code/", {"code": recovery[1]}).status_code == 302, "the app is left"
    add(alice, Authenticator())
    body = {"current_password": PASSWORD, "code": recovery[2], "action": "off"}
    assert alice.post("/profile/code/", body).status_code == 302
    assert half_logged_in().post("/login/code/", {"code": recovery[3]}).status_code == 302, (
        "a passkey is left"
    )


def test_new_recovery_codes_need_the_password_and_with_an_app_a_code(
    alice: Client, recovery: list[str]
) -> None:
    assert "entered incorrectly" in alice.post(CODES, {"current_password": "wrong"}).text
    fresh = re.findall(r"<li>(\d{8})</li>", alice.post(CODES, {"current_password": PASSWORD}).text)
    assert len(set(fresh) - set(recovery)) == 10
    assert half_logged_in().post("/login/code/", {"code": recovery[0]}).status_code == 200
    codes.switch_on(User.objects.get(), codes.new_secret(), 1)
    assert alice.post(CODES, {"current_password": PASSWORD})["Location"] == "/profile/code/"


def test_wrong_answers_are_limited_as_codes_are(recovery: list[str], phone: Authenticator) -> None:
    one, statuses = half_logged_in(), []
    for number in range(7):
        answer = Authenticator().answer(options_of(one, SECOND))
        statuses.append(one.post(SECOND, {"credential": answer}, REMOTE_ADDR=f"192.0.2.{number}").status_code)
    assert statuses == [200] * 5 + [429] * 2
    assert half_logged_in().post("/login/code/", {"code": recovery[0]}).status_code == 429
    # Nobody is locked out of the passkey by who knows a name.
    one = browser()
    assert one.post(ALONE, {"credential": phone.answer(options_of(one, ALONE))}).status_code == 302


def test_attempts_and_challenges_of_an_address_are_limited(recovery: list[str]) -> None:
    one = browser()
    assert [one.post(ALONE, {"credential": "{}"}).status_code for _ in range(41)] == [200] * 40 + [429]
    answers = [one.post(f"{ALONE}options/") for _ in range(41)]
    assert [answer.status_code for answer in answers] == [200] * 40 + [429]
    assert answers[-1].json()["message"] == "Too many attempts"


def test_accounts_that_may_not_log_in_may_not_with_a_passkey(
    recovery: list[str], phone: Authenticator, settings: Any
) -> None:
    one = browser()
    answer = phone.answer(options_of(one, ALONE))
    User.objects.update(is_active=False)
    assert "not accepted" in one.post(ALONE, {"credential": answer}).text
    user = User.objects.get()
    user.is_active = True
    user.set_unusable_password()
    user.save()
    answer = phone.answer(options_of(one, ALONE))
    assert "not accepted" in one.post(ALONE, {"credential": answer}).text
    settings.PASSWORD_LOGIN = False
    assert one.post(f"{ALONE}options/").status_code == 400


def test_the_domain_is_that_of_the_host_or_of_the_setting(
    alice: Client, recovery: list[str], phone: Authenticator, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["*"]

    def domain(host: str, *, secure: bool = True) -> str | None:
        answer = Client(HTTP_HOST=host).post(f"{ALONE}options/", secure=secure)
        return answer.json().get("options", {}).get("rpId")  # type: ignore[no-any-return]

    assert domain("Chat.example.org:8443") == "chat.example.org"
    assert domain("localhost:8000", secure=False) == "localhost"
    for host, secure in (("192.0.2.1", True), ("[::1]:8000", True), ("chat.example.org", False)):
        assert domain(host, secure=secure) is None
    settings.PASSKEY_DOMAIN = "example.org"
    assert domain("chat.example.org") == domain("example.org") == "example.org"
    assert domain("example.org.evil.com") is None
    assert domain("badexample.org") is None
    one = browser()
    one.post("/login/", LOGIN)
    assert "do not work at this address" in one.get("/login/code/").text


def test_at_a_number_of_this_machine_the_page_leads_to_its_name(alice: Client, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["127.0.0.1", "[::1]", "localhost", "192.0.2.1"]

    def page_at(host: str, *, secure: bool = False) -> str:
        one = Client(HTTP_HOST=host)
        one.force_login(User.objects.get())
        return one.get(PAGE, secure=secure).text

    link = f'href="http://localhost:8000{PAGE}"'
    assert link in page_at("127.0.0.1:8000")
    assert link in page_at("[::1]:8000")
    assert "localhost:8000" not in page_at("192.0.2.1:8000")
    assert "this one has none" in page_at("127.0.0.1:8443", secure=True)
    settings.PASSKEY_DOMAIN = "example.org"
    assert link not in page_at("127.0.0.1:8000")
    settings.PASSKEY_DOMAIN = ""
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    assert "this one has none" in page_at("127.0.0.1:8000")


def test_a_trusted_proxy_says_that_the_page_has_tls(recovery: list[str], settings: Any) -> None:
    """uvicorn's middleware sets the scheme of the request; Host is passed as it came."""
    settings.ALLOWED_HOSTS = ["chat.example.org"]
    one = Client(HTTP_HOST="chat.example.org")
    one.force_login(User.objects.get())
    options = one.post(OPTIONS, {"current_password": PASSWORD}, secure=True).json()["options"]
    made = Authenticator().make(options, origin="https://chat.example.org")
    assert one.post(PAGE, {"credential": made, "name": "x"}, secure=True).status_code == 302
    assert "Works at localhost only." in one.get(PAGE, secure=True).text


def test_an_account_has_so_many_passkeys(alice: Client, recovery: list[str], caplog: Any) -> None:
    user = User.objects.get()
    data = Row.objects.get(type="webauthn").data
    Row.objects.bulk_create(
        Row(user=user, type="webauthn", data=data) for _ in range(stored.MAX_PASSKEYS - 1)
    )
    assert "no room" in alice.get(PAGE).text
    assert "not accepted" in add(alice, Authenticator()).text
    assert Row.objects.filter(type="webauthn").count() == stored.MAX_PASSKEYS


def test_the_log_tells_what_happened_to_an_account(
    alice: Client, recovery: list[str], phone: Authenticator, caplog: Any
) -> None:
    caplog.set_level(logging.INFO)
    user, row = User.objects.get(), Row.objects.get(type="webauthn")
    one = browser()
    one.post(ALONE, {"credential": phone.answer(options_of(one, ALONE))})
    add(alice, Authenticator())
    alice.post(f"{PAGE}{row.pk}/", {"current_password": PASSWORD})
    for line in (f"passkey {row.pk} used", "added", f"passkey {row.pk} removed"):
        assert any(f"user {user.pk}: " in text and line in text for text in caplog.messages)


def sent(mailoutbox: Any, count: int) -> list[Any]:
    """The e-mails, after the thread that sends them has nothing left to do."""
    mail._sender.submit(lambda: None).result(60)
    assert len(mailoutbox) == count
    return list(mailoutbox)


@pytest.fixture
def with_mail(alice: Client, settings: Any) -> None:
    settings.EMAIL_HOST, settings.DEFAULT_FROM_EMAIL = "mail.example.org", "chat@example.org"
    User.objects.update(email="alice@example.org")


def test_the_owner_is_told_of_wrong_codes_once_a_day(
    recovery: list[str], phone: Authenticator, with_mail: None, mailoutbox: Any
) -> None:
    Login.objects.update(language="de")
    one = half_logged_in()
    for _ in range(2):
        one.post("/login/code/", {"code": "000000"}, headers={"Accept-Language": "fr"})
        one.post(SECOND, {"credential": Authenticator().answer(options_of(one, SECOND))})
    (told,) = sent(mailoutbox, 1)
    assert (told.to, "alice" in told.body) == (["alice@example.org"], True)
    with translation.override("de"):
        assert told.subject == translation.gettext("Wrong codes at your Turnwire login")
    wrong = browser()
    wrong.post("/login/", LOGIN | {"password": "wrong"})
    sent(mailoutbox, 1)


def test_the_owner_is_told_of_passkeys_that_come_and_go(
    alice: Client, phone: Authenticator, with_mail: None, mailoutbox: Any
) -> None:
    add(alice, phone)
    alice.post(f"{PAGE}{Row.objects.get(type='webauthn').pk}/", {"current_password": PASSWORD})
    assert {one.subject for one in sent(mailoutbox, 2)} == {
        "The passkeys of your Turnwire account were changed"
    }


def test_the_language_of_an_account_is_that_of_the_last_page(alice: Client) -> None:
    user = User.objects.get()
    one = browser()
    one.cookies["django_language"] = "es"
    one.post("/login/", LOGIN)
    one.get("/api/sessions/")
    assert Login.objects.language_of(user) == "es"
    Login.objects.all().end()
    assert Login.objects.language_of(user) == ""


def hostile_answers(right: str) -> list[str]:
    """What no browser sends: each part left out, of another type, cut, or nested."""
    values: list[Any] = [None, 1, [], {}, "", "AA", "ß", "=" * 9, "x" * 5000, {"id": []}, [[]], True]
    made = ["", "[]", "null", "1", "{", "[" * 16_000, '{"a":' * 3000, '"\\ud800"', "x" * 20_000]
    whole = json.loads(right)
    for name in whole:
        made += [json.dumps(whole | {name: value}) for value in values]
    for name, text in whole["response"].items():
        shorter = [text[: len(text) // 2], text[:-4], text + "AAAA", "gQ" * 2000]
        made += [
            json.dumps(whole | {"response": whole["response"] | {name: value}})
            for value in [*values, *shorter]
        ]
    return made


@pytest.mark.full
@pytest.mark.parametrize("place", [ALONE, PAGE])
def test_nothing_that_a_client_sends_makes_the_server_fail(
    alice: Client, recovery: list[str], phone: Authenticator, place: str
) -> None:
    one = alice if place == PAGE else browser()
    options = creation_options(one)["options"] if place == PAGE else options_of(one, ALONE)
    device = Authenticator() if place == PAGE else phone
    right = device.make(options) if place == PAGE else device.answer(options)
    challenge = one.session[stored.CHALLENGE]
    for hostile in hostile_answers(right):
        LoginLimit.objects.all().delete()
        # The right challenge, so that everything else is looked at.
        one = alice if place == PAGE else browser()
        session = one.session
        session[stored.CHALLENGE] = challenge
        session.save()
        assert one.post(place, {"credential": hostile}).status_code in (200, 302), hostile[:200]
