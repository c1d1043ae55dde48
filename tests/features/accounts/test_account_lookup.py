"""An address or a name finds the account that has it, and never one whose address or name only looks like it."""

import hypothesis
import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from features.accounts.passwords import LinkRequest
from tests import factories
from web.accounts import accounts_at, accounts_named

pytestmark = pytest.mark.django_db

# Characters that upper case, lower case, case folding or a normal form of Unicode takes for one another.
LETTERS = "iI\u0131\u0130sS\u017f\u00df\u1e9ekK\u212aå\u00c5\u212b\u00b5\u03bc\u03c3\u03c2\u03a3\u00e9\u00c9e\u0301\ufb01f\ufb06t\uff41a\u0430A"
WORDS = st.text(
    st.one_of(st.sampled_from(LETTERS), st.characters(codec="utf-8", exclude_characters="\0")), max_size=20
)


def ascii_lower(text: str) -> bytes:
    return text.encode().lower()


@given(stored=WORDS, asked=WORDS)
@hypothesis.settings(
    max_examples=200, deadline=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
def test_no_letters_but_those_of_ascii_are_found_in_another_case(stored: str, asked: str) -> None:
    User.objects.all().delete()
    User.objects.create(username=f"n{stored}", email=f"a{stored}")
    for other in (asked, stored, stored.upper(), stored.lower(), stored.casefold()):
        is_same = ascii_lower(other) == ascii_lower(stored)
        assert accounts_at(f"A{other}").exists() == is_same
        assert accounts_named(f"N{other}").exists() == is_same


def test_an_empty_address_finds_nobody() -> None:
    factories.create_user("alice")
    assert not accounts_at("").exists()


@pytest.mark.parametrize(
    ("asked", "sent"), [("wa\u0131t\u0131ng@example.org", 0), ("Waiting@Example.org", 1)]
)
def test_a_link_is_sent_for_the_address_of_the_account_alone(asked: str, sent: int) -> None:
    factories.create_user("one", "correct horse battery", email="waiting@example.org")
    form = LinkRequest({"email": asked})
    assert form.is_valid(), form.errors
    form.save(request=RequestFactory().get("/"), email_template_name="accounts/password_mail.txt")
    assert len(mail.outbox) == sent
