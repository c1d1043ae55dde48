"""Accounts with a password are connected with the provider; those without one confirm themselves there."""

from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.test import Client

from chat.models import AccountDeletion
from tests import factories
from tests.features.accounts.oidc.conftest import START, Visit
from tests.identity_provider import IdentityProvider

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "correct horse battery"
PAGE = "/profile/oidc/"
CONNECT = f"{START}connect/"


@pytest.fixture
def alice(provider: IdentityProvider) -> Client:
    factories.create_user("alice", PASSWORD)
    browser = Client()
    browser.post("/login/", {"username": "alice", "password": PASSWORD})
    return browser


def test_an_account_is_connected_with_its_password_and_disconnected(
    alice: Client, provider: IdentityProvider, visit: Visit
) -> None:
    assert PAGE in alice.get("/profile/").text
    assert CONNECT not in alice.get(PAGE).text
    assert alice.get(CONNECT)["Location"] == PAGE, "not without the password"
    assert "incorrect" in alice.post(PAGE, {"current_password": "wrong"}).text
    alice.post(PAGE, {"current_password": PASSWORD})
    assert CONNECT in alice.get(PAGE).text
    end = visit(alice, provider.person("a"), CONNECT)["Location"]
    assert "Connected." in alice.get(end).text
    browser = Client()
    visit(browser, "a")
    assert 'value="alice"' in browser.get("/profile/").text
    alice.post(PAGE, {"current_password": PASSWORD})
    assert not SocialAccount.objects.exists()


def test_the_login_of_somebody_else_is_not_connected(
    alice: Client, provider: IdentityProvider, visit: Visit
) -> None:
    visit(Client(), provider.person("b"))
    alice.post(PAGE, {"current_password": PASSWORD})
    answer = visit(alice, "b", CONNECT)
    assert (answer.status_code, "another account" in answer.text) == (403, True)
    assert SocialAccount.objects.get().user.username != "alice"


def test_a_connection_is_made_for_the_account_that_asked(alice: Client, provider: IdentityProvider) -> None:
    alice.post(PAGE, {"current_password": PASSWORD})
    end = provider.answer(alice.get(CONNECT)["Location"], provider.person("a"))
    alice.post("/logout/")
    alice.force_login(factories.create_user("bob", PASSWORD))
    assert alice.get(end).status_code in (400, 403)
    assert not SocialAccount.objects.exists()


def test_who_has_no_password_deletes_the_account_after_a_login(
    provider: IdentityProvider, visit: Visit
) -> None:
    browser, ada = Client(), provider.person("ada")
    visit(browser, ada)
    session = browser.session
    session["oidc_confirmed_at"] = 1.0
    session.save()
    again = f"{START}again/?next=/profile/deletion/"
    page = browser.get("/profile/deletion/").text
    assert again in page
    assert 'type="password"' not in page
    browser.post("/profile/deletion/", {"current_password": ""})
    browser.post("/profile/", {"email": "mallory@example.org", "current_password": ""})
    assert not AccountDeletion.objects.exists()
    assert User.objects.get().email == ""
    other = visit(browser, provider.person("eve"), again)
    assert other.status_code == 403
    assert visit(browser, ada, again)["Location"] == "/profile/deletion/"
    browser.post("/profile/deletion/", {"current_password": ""})
    assert AccountDeletion.objects.exists()


def test_the_provider_is_told_to_ask_again(provider: IdentityProvider, visit: Visit) -> None:
    browser, ada = Client(), provider.person("ada")
    visit(browser, ada)
    led = browser.get(f"{START}again/")["Location"]
    assert "prompt=login" in led
    assert "max_age=0" in led
    provider.tamper(claims={"auth_time": 1_000_000_000})
    assert browser.get(provider.answer(led, ada)).status_code == 502


def test_without_passwords_every_way_with_one_is_closed(alice: Client, settings: Any) -> None:
    settings.PASSWORD_LOGIN = False
    browser = Client()
    page = browser.get("/login/").text
    assert START in page
    assert 'type="password"' not in page
    form = {"username": "alice", "password": PASSWORD}
    for place in ("/login/", "/admin/login/"):
        browser.post(place, form)
        assert browser.get("/profile/").status_code == 302
    assert browser.post("/api/auth/token/", form, content_type="application/json").status_code == 403
    for place in ("/password/reset/", "/password/link/MQ/set-password/"):
        assert browser.get(place).status_code == 404
    account = {"username": "new", "email": "", "password1": PASSWORD, "password2": PASSWORD}
    assert browser.post("/register/", account).status_code == 404
    assert alice.get("/password/")["Location"] == "/profile/"


def test_the_admin_is_entered_by_the_same_page(provider: IdentityProvider) -> None:
    assert Client().get("/admin/", follow=True).redirect_chain[-1][0] == "/login/?next=%2Fadmin%2F"


def test_staff_see_and_disconnect_whom_the_provider_names(provider: IdentityProvider, visit: Visit) -> None:
    visit(Client(), provider.person("ada-1"))
    user = User.objects.get()
    root = Client()
    root.force_login(User.objects.create_superuser("root"))
    page = root.get(f"/admin/auth/user/{user.pk}/change/").text
    assert "ada-1" in page
    assert provider.issuer in page
    for place in ("socialaccount/socialapp/", "account/emailaddress/"):
        assert root.get(f"/admin/{place}").status_code == 404
