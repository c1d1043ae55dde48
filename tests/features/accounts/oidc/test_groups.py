"""Who is staff or an admin follows the groups of the provider, at each login."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from tests.features.accounts.oidc.conftest import Visit
from tests.identity_provider import IdentityProvider

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def groups(settings: Any) -> None:
    settings.OIDC_STAFF_GROUPS, settings.OIDC_ADMIN_GROUPS = ["support"], ["admins"]
    Group.objects.create(name="support")


def rights(provider: IdentityProvider, visit: Visit, **claims: Any) -> tuple[bool, bool, int]:
    """After a login: is_staff, is_superuser, how many groups."""
    assert visit(Client(), provider.person("ada", **claims)).status_code == 302
    user = User.objects.get(username="user")
    return user.is_staff, user.is_superuser, user.groups.count()


def test_staff_is_given_and_taken_with_the_group(provider: IdentityProvider, visit: Visit) -> None:
    assert rights(provider, visit, groups=["others"]) == (False, False, 0)
    assert rights(provider, visit, groups=["support", "others"]) == (True, False, 1)
    assert rights(provider, visit, groups=[]) == (False, False, 0)
    assert rights(provider, visit, groups="support") == (True, False, 1)
    assert rights(provider, visit) == (False, False, 0)


def test_admins_too_but_the_last_one_stays(provider: IdentityProvider, visit: Visit) -> None:
    assert rights(provider, visit, groups=["admins"]) == (True, True, 0)
    assert rights(provider, visit, groups=["support"]) == (True, True, 1)
    User.objects.create_superuser("root")
    assert rights(provider, visit, groups=["support"]) == (True, False, 1)
    assert rights(provider, visit, groups=[]) == (False, False, 0)


def test_a_group_here_that_makes_staff_goes_on_doing_so(
    provider: IdentityProvider, visit: Visit, settings: Any
) -> None:
    settings.STAFF_GROUPS = ["operators"]
    rights(provider, visit)
    User.objects.get().groups.add(Group.objects.create(name="operators"))
    assert rights(provider, visit, groups=[]) == (True, False, 1)


def test_without_the_settings_the_provider_changes_no_rights(
    provider: IdentityProvider, visit: Visit, settings: Any
) -> None:
    settings.OIDC_STAFF_GROUPS = settings.OIDC_ADMIN_GROUPS = []
    assert rights(provider, visit, groups=["support", "admins"]) == (False, False, 0)
    User.objects.update(is_staff=True)
    assert rights(provider, visit, groups=[]) == (True, False, 0)


@pytest.mark.parametrize(
    ("name", "claims"),
    [
        ("realm_access.roles", {"realm_access": {"roles": ["support"]}}),
        ("https://example.org/groups", {"https://example.org/groups": ["support"]}),
    ],
)
def test_the_claim_may_be_nested_or_named_like_an_address(
    provider: IdentityProvider, visit: Visit, settings: Any, name: str, claims: dict[str, Any]
) -> None:
    settings.OIDC_GROUPS_CLAIM = name
    assert rights(provider, visit, **claims)[0]


def test_a_claim_of_another_form_is_logged_as_that_and_takes_no_right_away(
    provider: IdentityProvider, visit: Visit, caplog: pytest.LogCaptureFixture
) -> None:
    assert rights(provider, visit, groups=[{"name": "support"}]) == (True, False, 1)
    assert rights(provider, visit, groups=5) == (True, False, 1)
    assert "has a form that is not known (int)" in caplog.text
    assert "sends no claim" not in caplog.text
