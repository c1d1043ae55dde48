"""People make their own accounts, as far as the setting and invitations allow."""

import re
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.core import mail
from django.test import Client
from django.utils import timezone

from chat.models import Invitation
from features.accounts import mail as sending
from tests import factories
from tests.concurrency import run_concurrently
from tests.features.accounts.concurrent_hashing import ConcurrentHashing

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
FIELDS = {"username": "newcomer", "email": "new@example.org", "password1": PASSWORD, "password2": PASSWORD}


@pytest.fixture(autouse=True)
def by_invitation(settings: Any) -> None:
    settings.REGISTRATION = "invitation"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def invite(**fields: Any) -> tuple[Invitation, str]:
    """Return the invitation and its link."""
    invitation = Invitation(expires_at=timezone.now() + timedelta(days=1), **fields)
    token = invitation.new_token(factories.create_user(f"root{Invitation.objects.count()}"))
    invitation.save()
    return invitation, f"/register/invited/{token}/"


def register(link: str, **fields: str) -> Any:
    return Client().post(link, FIELDS | fields)


def test_an_invitation_makes_one_account_in_its_group() -> None:
    invitation, link = invite(group=Group.objects.create(name="team"))
    assert 'name="password1"' in Client().get(link).text
    browser = Client()
    assert browser.post(link, FIELDS)["Location"] == "/"
    user = User.objects.get(username="newcomer")
    assert (user.email, user.is_staff, user.groups.get().name) == ("new@example.org", False, "team")
    assert browser.get("/").status_code == 200, "logged in"
    entry = LogEntry.objects.get(user=user)
    assert entry.change_message == f"Registered with invitation {invitation.pk}."
    assert register(link, username="another").status_code == 404


def test_an_invitation_for_several_makes_as_many() -> None:
    _, link = invite(max_uses=2)
    assert [register(link, username=f"person{n}").status_code for n in range(3)] == [302, 302, 404]


def test_an_expired_or_deleted_invitation_makes_none() -> None:
    invitation, link = invite()
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert register(link).status_code == 404
    Invitation.objects.update(expires_at=timezone.now() + timedelta(days=1))
    invitation.delete()
    assert register(link).status_code == 404


def test_when_registration_is_closed_invitations_do_not_work(settings: Any) -> None:
    _, link = invite()
    settings.REGISTRATION = "closed"
    assert (register(link).status_code, register("/register/").status_code) == (404, 404)
    assert not User.objects.filter(username="newcomer").exists()


def test_everybody_registers_when_it_is_open(settings: Any) -> None:
    assert "/register/" not in Client().get("/login/").text
    assert register("/register/").status_code == 404
    settings.REGISTRATION = "open"
    assert "/register/" in Client().get("/login/").text
    assert register("/register/").status_code == 302
    assert LogEntry.objects.get().change_message == "Registered without an invitation."


@pytest.mark.parametrize(
    "fields",
    [{"username": "Root0"}, {"username": "demo"}, {"password1": "short", "password2": "short"}],
)
def test_what_no_account_may_have_is_said_and_uses_nothing(fields: dict[str, str]) -> None:
    _, link = invite()
    answer = register(link, **fields)
    assert (answer.status_code, 'role="alert"' in answer.text) == (200, True)
    assert register(link).status_code == 302


def test_names_are_tried_no_faster_than_passwords(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("features.accounts.registration.PER_ADDRESS", (20, 30_000))
    settings.REGISTRATION = "open"
    statuses = [register("/register/", password2="other").status_code for _ in range(22)]
    assert statuses == [200] * 20 + [429] * 2


@pytest.mark.django_db(transaction=True)
def test_of_several_with_one_link_side_by_side_one_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("features.accounts.registration.hashing", ConcurrentHashing(4))
    _, link = invite()
    used = run_concurrently(*(partial(register, link, username=f"person{number}") for number in range(4)))
    assert sorted(answer.status_code for answer in used) == [302, 404, 404, 404]


@pytest.mark.django_db(transaction=True)
class TestMail:
    @pytest.fixture(autouse=True)
    def sends_mail(self, settings: Any) -> None:
        settings.EMAIL_HOST = "mail.example.org"
        settings.DEFAULT_FROM_EMAIL = "turnwire@example.org"
        settings.REGISTRATION = "open"

    def ask(self, address: str, link: str = "/register/") -> Any:
        answer = Client().post(link, {"email": address})
        # What was submitted before is done.
        sending._sender.submit(int).result(60)
        return answer

    def sent_link(self) -> str:
        found = re.search(r"http://testserver(/register/\S+)", str(mail.outbox[-1].body))
        assert found
        return found[1]

    def test_the_link_in_the_mail_makes_one_account_with_its_address(self) -> None:
        page = Client().get("/register/").text
        assert ("password1" in page, 'type="email"' in page) == (False, True)
        assert self.ask("mine@example.org")["Location"] == "/register/sent/"
        assert Client().get("/register/sent/").status_code == 200
        link = self.sent_link()
        assert "mine@example.org" in Client().get(link).text
        assert register(link, email="other@example.org").status_code == 302
        assert User.objects.get().email == "mine@example.org"
        assert register(link, username="another").status_code == 404
        assert User.objects.count() == 1

    def test_nobody_learns_which_addresses_have_accounts_but_their_owners(self) -> None:
        factories.create_user("alice", email="Alice@example.org")
        known, unknown = self.ask("alice@example.org"), self.ask("mine@example.org")
        assert (known.status_code, known["Location"]) == (unknown.status_code, unknown["Location"])
        assert known.content == unknown.content
        first, second = (str(message.body) for message in mail.outbox)
        assert ("/register/" in first, "/register/" in second) == (False, True)

    def test_an_invitation_is_used_by_the_account_and_not_by_the_mail(self, settings: Any) -> None:
        settings.REGISTRATION = "invitation"
        invitation, link = invite()
        self.ask("mine@example.org", link)
        invitation.refresh_from_db()
        assert invitation.uses == 0
        confirmed = self.sent_link()
        assert register(confirmed).status_code == 302
        invitation.refresh_from_db()
        assert invitation.uses == 1
        self.ask("other@example.org", link)
        assert len(mail.outbox) == 1

    def test_a_mailbox_is_not_filled(self) -> None:
        assert [self.ask("victim@example.org").status_code for _ in range(5)] == [302] * 3 + [429] * 2
        assert len(mail.outbox) == 3


@pytest.mark.django_db(transaction=True)
class TestAdmin:
    PLACE = "/admin/chat/invitation/add/"

    @pytest.fixture
    def root(self) -> Client:
        browser = Client()
        browser.force_login(User.objects.create_superuser("root", password=PASSWORD))
        return browser

    def test_staff_make_a_link_which_is_shown_once(self, root: Client) -> None:
        answer = root.post(self.PLACE, {"email": "", "max_uses": 3, "days": 7})
        found = re.search(r'value="http://testserver(/register/invited/[^"]+)"', answer.text)
        assert found
        invitation = Invitation.objects.get()
        for page in ("", f"{invitation.pk}/change/", f"{invitation.pk}/history/"):
            text = root.get(f"/admin/chat/invitation/{page}").text
            assert invitation.digest not in text
            assert found[1] not in text
        assert invitation.created_by == User.objects.get(username="root")
        assert register(found[1]).status_code == 302

    def test_an_invitation_by_e_mail_is_sent_and_confirms_the_address(
        self, root: Client, settings: Any
    ) -> None:
        fields = {"email": "mine@example.org", "max_uses": 1, "days": 7}
        assert "sends no e-mail" in root.post(self.PLACE, fields).text
        settings.EMAIL_HOST = "mail.example.org"
        settings.DEFAULT_FROM_EMAIL = "turnwire@example.org"
        assert "for one account" in root.post(self.PLACE, fields | {"max_uses": 2}).text
        assert root.post(self.PLACE, fields).status_code == 302
        sending._sender.submit(int).result(60)
        (message,) = mail.outbox
        found = re.search(r"http://testserver(/register/invited/\S+)", str(message.body))
        assert found
        assert register(found[1], email="other@example.org").status_code == 302
        assert User.objects.get(username="newcomer").email == "mine@example.org"

    def test_staff_who_may_not_change_users_give_no_groups(self) -> None:
        group = Group.objects.create(name="team")
        person = factories.create_user("helper", is_staff=True)
        person.user_permissions.set(Permission.objects.filter(codename__endswith="_invitation"))
        browser = Client()
        browser.force_login(person)
        assert 'name="group"' not in browser.get(self.PLACE).text
        browser.post(self.PLACE, {"email": "", "group": group.pk, "max_uses": 1, "days": 7})
        assert Invitation.objects.get().group is None
