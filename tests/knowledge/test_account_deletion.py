"""Accounts that are deleted, by whatever means: which knowledge bases and documents stay, and for whom they count then."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.runs import quotas
from chat.sweeper.accounts import delete_accounts
from knowledge.models import Chunk, Document, File, KnowledgeBase, ServedVersion
from tests import factories
from tests.concurrency import run_concurrently
from tests.features.knowledge_bases.knowledge_bases import Team, refusal
from tests.indexed import add_indexed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def team() -> Team:
    """With a document. `editor` is an owner too, and `heir`, who was a member before."""
    team = Team()
    heir = team.base.members.create(user=factories.create_user("heir"), role="owner")
    first = team.base.members.order_by("created_at").first()
    assert first
    team.base.members.filter(pk=heir.pk).update(created_at=first.created_at)
    team.base.members.filter(user=team.users["editor"]).update(role="owner")
    add(team)
    return team


def add(team: Team, owner: str = "owner", name: str = "Low") -> None:
    add_indexed(team.base, name, "Low water stands at two metres.", owner=team.users[owner])


def by_instance(*names: str) -> None:
    for name in names:
        User.objects.get(username=name).delete()


def by_queryset(*names: str) -> None:
    User.objects.filter(username__in=names).delete()


def on_the_page_of_the_account(*names: str) -> None:
    for name in names:
        pk = User.objects.get(username=name).pk
        assert root().post(f"/admin/auth/user/{pk}/delete/", {"post": "yes"}).status_code == 302
    delete_accounts()


def in_the_list_of_accounts(*names: str) -> None:
    picked = list(User.objects.filter(username__in=names).values_list("pk", flat=True))
    form = {"action": "delete_selected", "_selected_action": picked, "post": "yes"}
    assert root().post("/admin/auth/user/", form).status_code == 302
    delete_accounts()


def root() -> Client:
    client = Client()
    person = User.objects.filter(username="root").first()
    client.force_login(person or User.objects.create_superuser("root"))
    return client


# The admin deletes no account of which it lists rows that staff may only read: sessions, files, bases.
WITH_EVERYTHING = [by_instance, by_queryset]
WITH_NOTHING = [on_the_page_of_the_account, in_the_list_of_accounts]
Delete = Callable[..., None]


@pytest.mark.parametrize("delete", [*WITH_EVERYTHING, *WITH_NOTHING])
class TestOwners:
    def test_a_base_with_its_documents_passes_to_the_owner_who_is_a_member_for_longest(
        self, team: Team, delete: Delete
    ) -> None:
        delete("owner")
        assert not User.objects.filter(username="owner").exists()
        assert KnowledgeBase.objects.get().owner.username == "heir"
        assert Document.objects.get().owner.username == "heir"
        assert quotas.count_chunks(User.objects.get(username="heir").pk) == 1
        [hit] = team.clients["reader"].get(f"{team.path}search/", {"q": "water"}).json()
        assert hit["title"] == "Low"
        for role in ("reader", "restricted"):
            assert team.clients[role].get(team.path).json()["owner"] == "heir"

    def test_owners_who_are_deleted_together_leave_it_to_one_who_stays(
        self, team: Team, delete: Delete
    ) -> None:
        delete("heir", "owner")
        assert KnowledgeBase.objects.get().owner.username == "editor"
        assert Document.objects.get().owner.username == "editor"

    def test_documents_that_an_account_added_to_the_base_of_another_stay(
        self, team: Team, delete: Delete
    ) -> None:
        add(team, "editor", "High")
        delete("editor")
        assert KnowledgeBase.objects.get().owner.username == "owner"
        owners = Document.objects.order_by("name").values_list("name", "owner__username")
        assert list(owners) == [("High", "owner"), ("Low", "owner")]


@pytest.mark.parametrize("delete", WITH_EVERYTHING)
class TestWhatGoes:
    def test_a_base_without_another_owner_goes_with_its_account(self, team: Team, delete: Delete) -> None:
        other = KnowledgeBase.objects.start(team.users["reader"], name="Moon")
        other.members.create(user=team.users["editor"], role="editor")
        delete("owner", "heir", "editor")
        assert list(KnowledgeBase.objects.all()) == [other]
        assert (Document.objects.count(), Chunk.objects.count()) == (0, 0)
        assert refusal(team.clients["reader"].get(team.path)) == (404, "knowledge_base_not_found")

    def test_files_that_are_no_documents_go_with_their_account(self, team: Team, delete: Delete) -> None:
        File.objects.create(owner=team.users["owner"], name="own.txt")
        delete("owner")
        assert list(File.objects.values_list("name", flat=True)) == ["Low"]


def test_a_document_that_is_read_again_stays_with_the_version_that_is_served(
    team: Team, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    document = Document.objects.get()
    path = f"{team.path}documents/{document.pk}/"
    body = {"title": "High", "text": "High water."}
    assert team.clients["editor"].put(path, body, format="json").status_code == 200
    by_instance("owner")
    assert team.clients["reader"].get(path).json()["title"] == "Low"
    by_instance("heir", "editor")
    assert (Document.objects.count(), ServedVersion.objects.count()) == (0, 0)


def test_owners_who_are_deleted_side_by_side_leave_it_to_the_third(team: Team) -> None:
    run_concurrently(lambda: by_instance("owner"), lambda: by_instance("heir"))
    assert KnowledgeBase.objects.get().owner.username == "editor"
    assert Document.objects.get().owner.username == "editor"


def test_an_owner_who_leaves_while_the_account_is_deleted_does_not_get_it(team: Team) -> None:
    left = f"{team.path}members/{team.base.members.get(user__username='heir').pk}/"
    heir = factories.api_client(User.objects.get(username="heir"))
    run_concurrently(lambda: by_instance("owner"), lambda: heir.delete(left))
    base = KnowledgeBase.objects.get()
    assert base.members.filter(user=base.owner, role="owner").exists()
    assert Document.objects.get().owner == base.owner
