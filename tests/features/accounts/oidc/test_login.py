"""People log in with a provider of OpenID Connect, and with nothing that only looks like its answer."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.test import Client

from chat.models import Login
from tests import factories
from tests.features.accounts.oidc.conftest import START, Visit
from tests.identity_provider import IdentityProvider

pytestmark = pytest.mark.django_db(transaction=True)

FIREFOX = "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0"


def is_logged_in(browser: Client) -> bool:
    return bool(browser.get("/profile/").status_code == 200)


def test_a_new_person_gets_an_account_and_the_same_one_at_the_next_login(
    provider: IdentityProvider, visit: Visit
) -> None:
    ada = provider.person(
        "ada-1", preferred_username="ada", email="ada@example.org", email_verified=True, given_name="Ada"
    )
    assert START in Client().get("/login/?next=/shared/").text
    browser = Client(headers={"User-Agent": FIREFOX})
    assert visit(browser, ada, f"{START}?next=/profile/")["Location"] == "/profile/"
    user = User.objects.get()
    assert (user.username, user.email, user.first_name) == ("ada", "ada@example.org", "Ada")
    assert (user.is_staff, user.has_usable_password()) == (False, False)
    assert "Firefox on Windows" in browser.get("/profile/logins/").text
    assert Login.objects.get().user == user
    assert browser.post("/logout/")["Location"] == "/login/"
    assert not is_logged_in(browser)
    # By the subject: whatever else the provider says of it now.
    provider.person("ada-1", preferred_username="lovelace", email="other@example.org", email_verified=True)
    assert visit(Client(), ada).status_code == 302
    assert User.objects.count() == 1
    account = SocialAccount.objects.get()
    assert (account.provider, account.uid, account.extra_data) == (provider.issuer, "ada-1", {})


def test_the_request_has_what_protects_it(provider: IdentityProvider) -> None:
    asked = [parse_qs(urlsplit(Client().get(START)["Location"]).query) for _ in range(2)]
    assert set(asked[0]["scope"][0].split()) == {"openid", "profile", "email"}
    assert asked[0]["code_challenge_method"] == ["S256"]
    for name in ("state", "nonce", "code_challenge"):
        assert len(asked[0][name][0]) >= 32
        assert asked[0][name] != asked[1][name]


@pytest.mark.parametrize(
    "tampering",
    [
        pytest.param({"claims": {"nonce": "another"}}, id="wrong nonce"),
        pytest.param({"claims": {"nonce": None}}, id="no nonce"),
        pytest.param({"claims": {"aud": "another client"}}, id="wrong audience"),
        pytest.param({"claims": {"aud": ["turnwire", "other"]}}, id="several audiences without azp"),
        pytest.param({"claims": {"azp": "another client"}}, id="issued to another client"),
        pytest.param({"claims": {"iss": "https://evil.example.org"}}, id="foreign issuer"),
        pytest.param({"claims": {"exp": 1_000_000_000}}, id="expired"),
        pytest.param({"claims": {"exp": None}}, id="without an end"),
        pytest.param({"claims": {"sub": "victim"}}, id="userinfo of another subject"),
        pytest.param({"claims": {"sub": "x" * 192}, "userinfo": {"sub": "x" * 192}}, id="endless subject"),
        pytest.param({"claims": {"sub": 5}, "userinfo": {"sub": 5}}, id="subject that is no text"),
        pytest.param({"key": "foreign"}, id="wrong signature"),
        pytest.param({"key": "secret"}, id="signed with the secret of the client"),
        pytest.param({"key": "none"}, id="not signed"),
        pytest.param({"userinfo": {"sub": "victim"}}, id="userinfo is about another"),
        pytest.param({"status": {"token": 400}}, id="code refused"),
        pytest.param({"discovery": {"issuer": "https://evil.example.org"}}, id="discovery of another issuer"),
        pytest.param({"discovery": {"jwks_uri": None}}, id="half a discovery"),
    ],
)
def test_what_is_not_the_answer_to_this_login_lets_nobody_in(
    provider: IdentityProvider, visit: Visit, tampering: dict[str, Any]
) -> None:
    victim = provider.person("victim")
    assert visit(Client(), victim).status_code == 302
    mallory, browser = provider.person("mallory"), Client()
    led = browser.get(START)["Location"]
    provider.tamper(**tampering)
    answer = browser.get(provider.answer(led, mallory))
    assert answer.status_code in (502, 503)
    assert "Example Inc." in answer.text
    assert 'class="login"' in answer.text
    assert not is_logged_in(browser)
    assert User.objects.count() == 1


def test_an_answer_is_used_once_by_the_browser_that_asked(provider: IdentityProvider) -> None:
    browser, ada = Client(), provider.person("ada")
    end = provider.answer(browser.get(START)["Location"], ada)
    elsewhere = Client()
    stolen = elsewhere.get(end)
    assert (stolen.status_code, is_logged_in(elsewhere)) == (400, False)
    assert browser.get(end).status_code == 302
    browser.post("/logout/")
    replayed = browser.get(end)
    assert (replayed.status_code, is_logged_in(browser)) == (400, False)
    assert "started too long ago" in replayed.text
    for query in ("", "?code=1", "?state=invented&code=1", "?error=access_denied"):
        assert browser.get(f"{START}callback/{query}").status_code == 400


def test_who_declines_at_the_provider_is_told_so(provider: IdentityProvider, visit: Visit) -> None:
    answer = visit(Client(), None)
    assert answer.status_code == 403
    assert "Example Inc. has not let you in" in answer.text
    german = Client(headers={"Accept-Language": "de"})
    assert "Example Inc. hat dir den Zugang verweigert" in visit(german, None).text


@pytest.mark.parametrize("endpoint", ["discovery", "token", "jwks", "userinfo"])
def test_a_provider_that_fails_is_said_in_words(provider: IdentityProvider, endpoint: str) -> None:
    browser, ada = Client(), provider.person("ada")
    end = provider.answer(browser.get(START)["Location"], ada)
    provider.tamper(status={endpoint: 500})
    assert browser.get(end).status_code in (502, 503)
    assert not is_logged_in(browser)


def test_a_provider_that_cannot_be_reached_is_said_in_words(
    provider: IdentityProvider, settings: Any
) -> None:
    settings.OIDC_ISSUER = "http://127.0.0.1:9"
    answer = Client().get(START)
    assert (answer.status_code, "does not answer" in answer.text) == (503, True)


@pytest.mark.parametrize(
    "after", ["https://evil.example.org/", "//evil.example.org", "javascript:alert(1)", "/\\evil.example.org"]
)
def test_a_login_leads_to_pages_of_this_site_only(
    provider: IdentityProvider, visit: Visit, after: str
) -> None:
    ada = provider.person("ada")
    assert visit(Client(), ada, f"{START}?next={after}")["Location"] == "/"


def test_who_is_logged_in_stays_it(provider: IdentityProvider) -> None:
    """A link made by somebody else does not change whose account a browser is in."""
    browser, ada = Client(), provider.person("ada")
    end = provider.answer(browser.get(START)["Location"], ada)
    browser.force_login(factories.create_user("alice"))
    assert browser.get(START)["Location"] == "/"
    browser.get(end)
    assert 'value="alice"' in browser.get("/profile/").text


def test_a_deactivated_account_stays_closed(provider: IdentityProvider, visit: Visit) -> None:
    ada = provider.person("ada")
    visit(Client(), ada)
    User.objects.update(is_active=False)
    browser = Client()
    answer = visit(browser, ada)
    assert (answer.status_code, is_logged_in(browser)) == (403, False)
    assert "Your account is closed" in answer.text


def test_logins_are_begun_at_a_limited_pace(
    provider: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("features.accounts.oidc.PER_ADDRESS", (2, 3_000))
    assert [Client().get(START).status_code for _ in range(3)] == [302, 302, 429]


def test_without_a_provider_there_is_no_such_page() -> None:
    assert START not in Client().get("/login/").text
    assert [Client().get(START + place).status_code for place in ("", "callback/")] == [404, 404]


def test_no_page_of_allauth_is_served() -> None:
    for place in ("accounts/login/", "accounts/signup/", "accounts/email/", "accounts/social/connections/"):
        assert Client().get(f"/{place}").status_code == 404
