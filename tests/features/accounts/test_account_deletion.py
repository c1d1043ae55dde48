"""Accounts are closed at once when they are deleted, and all that was theirs is deleted by the sweeper."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from knox.models import AuthToken

from chat.models import AccountDeletion, Agent, ChatMessage, Session
from chat.sweeper import accounts
from chat.sweeper.accounts import delete_accounts
from knowledge.models import Document, File, KnowledgeBase, Project
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def cheap_hashing(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def alice() -> User:
    """With one of everything, and two chats."""
    alice: User = factories.create_user("alice", PASSWORD)
    Session.objects.start(alice)
    Session.objects.start(alice)
    Agent.objects.create(owner=alice, name="Clock", prompt="Be brief.")
    project = Project.objects.create(owner=alice, name="Harbour")
    base = KnowledgeBase.objects.start(alice, name="Tides")
    for number, place in enumerate(({"project": project}, {}, {"knowledge_base": base})):
        File.objects.create(
            owner=alice, name=f"{number}.txt", status="ready", text="Low water.", size_bytes=9, token_count=3,
            content=ContentFile(b"Low water", name="any"), **place,
        )  # fmt: skip
    AuthToken.objects.create(alice)
    return alice


@pytest.fixture
def browser(alice: User) -> Client:
    browser = Client()
    browser.force_login(alice)
    return browser


@pytest.fixture
def root() -> Client:
    browser = Client()
    browser.force_login(User.objects.create_superuser("root", password=PASSWORD))
    return browser


def delete(browser: Client, password: str = PASSWORD) -> Any:
    return browser.post("/profile/deletion/", {"current_password": password})


def left_of(*models: Any) -> list[int]:
    return [model.objects.count() for model in models]


EVERYTHING = (Session, ChatMessage, Agent, Project, File, Document, KnowledgeBase, AccountDeletion)


def test_a_user_deletes_the_own_account_which_is_closed_at_once(browser: Client, alice: User) -> None:
    assert "/profile/deletion/" in browser.get("/profile/").text
    assert 'type="password"' in browser.get("/profile/deletion/").text
    assert delete(browser)["Location"] == "/login/?notice=deleted"
    alice.refresh_from_db()
    assert not alice.is_active
    assert browser.get("/")["Location"].startswith("/login/")
    assert not Client().login(username="alice", password=PASSWORD)
    assert not AuthToken.objects.exists()


def test_the_sweeper_deletes_the_rows_then_the_account_and_nothing_of_others(
    browser: Client, alice: User
) -> None:
    bob = factories.create_user("bob")
    kept = Session.objects.start(bob)
    delete(browser)
    delete_accounts()
    assert list(User.objects.all()) == [bob]
    assert list(Session.objects.all()) == [kept]
    assert left_of(*EVERYTHING[2:]) == [0] * len(EVERYTHING[2:])


def test_a_large_account_is_deleted_in_several_sweeps(
    browser: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete(browser)
    monkeypatch.setattr(accounts, "DELETE_S", 0.0)
    assert delete_accounts() == 0
    assert User.objects.filter(pk=alice.pk).exists()
    assert accounts._delete_some(alice) == 1
    assert Session.objects.count() == 1
    monkeypatch.undo()
    delete_accounts()
    assert left_of(User, *EVERYTHING) == [0] * (len(EVERYTHING) + 1)


def test_a_wrong_password_deletes_nothing_and_is_guessed_no_faster_than_at_the_login(
    browser: Client, alice: User
) -> None:
    answers = [delete(browser, f"wrong {n}") for n in range(10)]
    assert [answer.status_code for answer in answers] == [200] * 8 + [429] * 2
    assert 'role="alert"' in answers[0].text
    assert not AccountDeletion.objects.exists()


def test_the_last_admin_is_not_deleted(root: Client) -> None:
    assert 'type="password"' not in root.get("/profile/deletion/").text
    assert delete(root).status_code == 200
    user = User.objects.get(username="root")
    root.post(f"/admin/auth/user/{user.pk}/delete/", {"post": "yes"})
    assert not AccountDeletion.objects.exists()
    User.objects.create_superuser("other")
    assert delete(root).status_code == 302
    delete_accounts()
    assert not User.objects.filter(username="root").exists()


def test_staff_delete_accounts_with_rows_that_the_admin_shows_and_does_not_let_delete(
    root: Client, alice: User
) -> None:
    place = f"/admin/auth/user/{alice.pk}/delete/"
    assert root.get(place).status_code == 200
    assert root.post(place, {"post": "yes"}).status_code == 302
    delete_accounts()
    assert left_of(*EVERYTHING) == [0] * len(EVERYTHING)
    assert not User.objects.filter(username="alice").exists()


def test_staff_do_not_activate_an_account_that_is_being_deleted(
    root: Client, browser: Client, alice: User
) -> None:
    place = f"/admin/auth/user/{alice.pk}/change/"
    assert 'name="is_active"' in root.get(place).text
    delete(browser)
    assert 'name="is_active"' not in root.get(place).text


def test_a_base_with_another_owner_stays_with_its_documents(browser: Client, alice: User) -> None:
    bob = factories.create_user("bob")
    base = KnowledgeBase.objects.get()
    base.members.create(user=bob, role="owner")
    delete(browser)
    delete_accounts()
    assert (KnowledgeBase.objects.get().owner, Document.objects.count()) == (bob, 1)
    assert not User.objects.filter(username="alice").exists()
