"""Whom the provider names gets an account as REGISTRATION says, and never that of somebody else."""

from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from chat.models import Invitation
from features.accounts.registration import make_setup_link
from tests import factories
from tests.features.accounts.oidc.conftest import START, Visit
from tests.identity_provider import IdentityProvider

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "correct horse battery"


def waiting(name: str = "alice", **fields: Any) -> User:
    """An account that an admin has made without a password."""
    user = User(username=name, email=f"{name}@example.org", **fields)
    user.set_unusable_password()
    user.save()
    return user


def who(browser: Client) -> str | None:
    page = browser.get("/profile/")
    return page.context["request"].user.get_username() if page.status_code == 200 else None


@pytest.mark.parametrize("registration", ["closed", "invitation"])
def test_where_not_everybody_registers_an_unknown_person_is_refused(
    provider: IdentityProvider, visit: Visit, settings: Any, registration: str
) -> None:
    settings.REGISTRATION = registration
    answer = visit(Client(), provider.person("ada", email="ada@example.org", email_verified=True))
    assert answer.status_code == 403
    assert "There is no account for you yet" in answer.text
    assert not User.objects.exists()


def test_an_account_that_waits_is_that_of_its_verified_address(
    provider: IdentityProvider, visit: Visit, settings: Any
) -> None:
    settings.REGISTRATION = "closed"
    waiting()
    alice = provider.person("a-1", email="Alice@example.org", email_verified=True)
    browser = Client()
    assert visit(browser, alice).status_code == 302
    assert who(browser) == "alice"
    # Once: whoever gets the address later is somebody else.
    successor = provider.person("a-2", email="alice@example.org", email_verified=True)
    assert visit(Client(), successor).status_code == 403
    assert SocialAccount.objects.get().uid == "a-1"


@pytest.mark.parametrize(
    "claimed", ["al\u0131ce@example.org", "al\u0130ce@example.org", "alice@example.org\u0307"]
)
def test_an_address_that_looks_like_that_of_an_account_does_not_enter_it(
    provider: IdentityProvider, visit: Visit, settings: Any, claimed: str
) -> None:
    settings.REGISTRATION = "closed"
    waiting()
    answer = visit(Client(), provider.person("m", email=claimed, email_verified=True))
    assert answer.status_code == 403
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize("verified", [False, None, "no", 1])
def test_an_address_that_is_not_verified_gives_no_account_and_is_not_stored(
    provider: IdentityProvider, visit: Visit, verified: object
) -> None:
    waiting()
    mallory = provider.person("m", email="alice@example.org", email_verified=verified)
    browser = Client()
    visit(browser, mallory)
    assert who(browser) not in ("alice", None)
    assert User.objects.exclude(username="alice").get().email == ""


def test_the_account_of_another_with_a_password_is_not_taken_over(
    provider: IdentityProvider, visit: Visit
) -> None:
    """Its address may have been typed by anybody: neither gets into the chats of the other."""
    factories.create_user("alice", PASSWORD)
    User.objects.update(email="alice@example.org")
    answer = visit(Client(), provider.person("a", email="alice@example.org", email_verified=True))
    assert answer.status_code == 403
    assert "connect Example Inc. on your profile" in answer.text
    assert not SocialAccount.objects.exists()


def test_where_nobody_has_a_password_those_of_before_count_for_nothing(
    provider: IdentityProvider, visit: Visit, settings: Any
) -> None:
    factories.create_user("alice", PASSWORD)
    User.objects.update(email="alice@example.org")
    before = Client()
    before.force_login(User.objects.get())
    Authenticator.objects.create(user=User.objects.get(), type=Authenticator.Type.WEBAUTHN, data={})
    settings.PASSWORD_LOGIN = False
    browser = Client()
    visit(browser, provider.person("a", email="alice@example.org", email_verified=True))
    assert (who(browser), who(before)) == ("alice", None)
    assert not User.objects.get().has_usable_password()
    assert not Authenticator.objects.exists()


def test_accounts_with_the_same_address_are_nobodys(
    provider: IdentityProvider, visit: Visit, settings: Any
) -> None:
    settings.REGISTRATION = "closed"
    waiting("one")
    waiting("two")
    User.objects.update(email="both@example.org")
    answer = visit(Client(), provider.person("b", email="both@example.org", email_verified=True))
    assert answer.status_code == 403


def test_the_same_subject_of_another_provider_is_somebody_else(
    provider: IdentityProvider, visit: Visit
) -> None:
    alice = waiting()
    SocialAccount.objects.create(user=alice, provider="https://former.example.org", uid="s")
    browser = Client()
    visit(browser, provider.person("s", preferred_username="Bob"))
    assert who(browser) == "Bob"


@pytest.mark.parametrize(
    ("claimed", "name"),
    [("alice", "alice-2"), ("ALICE", "ALICE-2"), ("demo", "demo-2"), ("<b>x y</b>", "b-x-y-b"), ("", "user")],
)
def test_a_new_account_gets_a_name_that_is_free(
    provider: IdentityProvider, visit: Visit, claimed: str, name: str
) -> None:
    waiting()
    browser = Client()
    visit(browser, provider.person("n", preferred_username=claimed))
    assert who(browser) == name


def test_an_invitation_lets_one_person_in(provider: IdentityProvider, visit: Visit, settings: Any) -> None:
    settings.REGISTRATION = "invitation"
    invitation = Invitation(
        expires_at=timezone.now() + timedelta(days=1), group=Group.objects.create(name="team")
    )
    token = invitation.new_token(factories.create_user("root"))
    invitation.save()
    start = f"{START}?invitation={token}"
    assert start in Client().get(f"/register/invited/{token}/").text
    # Two who have begun: the first one to come back gets in.
    late = Client()
    led = late.get(start)["Location"]
    browser = Client()
    assert visit(browser, provider.person("ada", preferred_username="ada"), start).status_code == 302
    assert User.objects.get(username="ada").groups.get().name == "team"
    entry = LogEntry.objects.get(user__username="ada")
    assert entry.change_message == f"Registered by OpenID Connect with invitation {invitation.pk}."
    assert late.get(provider.answer(led, provider.person("eve"))).status_code == 404
    assert Client().get(start).status_code == 404
    # Who has an account needs none.
    assert visit(Client(), "ada").status_code == 302


def test_the_link_of_the_start_makes_the_first_admin(
    provider: IdentityProvider, visit: Visit, settings: Any
) -> None:
    settings.REGISTRATION, settings.PASSWORD_LOGIN, settings.DEVELOPMENT = "closed", False, False
    link = make_setup_link()
    token = link.split("/")[2]
    page = Client().get(link).text
    assert START in page
    assert "password1" not in page
    browser = Client()
    assert visit(browser, provider.person("ada"), f"{START}?setup={token}").status_code == 302
    assert User.objects.get().is_superuser
    assert browser.get("/admin/").status_code == 200
    assert Client().get(f"{START}?setup={token}").status_code in (302, 404)
    late = visit(Client(), provider.person("eve"), f"{START}?setup={token}")
    assert (late.status_code, User.objects.count()) == (404, 1)
