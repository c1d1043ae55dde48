"""Memberships that somebody else has made: until they are accepted they allow what their role does, but tell and cost nothing."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from chat.events import session_list
from chat.models import AccountDeletion, Session
from chat.runs import quotas
from chat.sweeper.accounts import delete_accounts
from features.knowledge_bases.members import MAX_INVITATIONS
from features.transfer.account_archive import account_archive
from knowledge.models import KnowledgeBase, KnowledgeBaseMember
from tests import factories
from tests.concurrency import run_concurrently
from tests.features.knowledge_bases.knowledge_bases import BASES, Team, refusal, send
from tests.indexed import add_indexed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    factories.create_model("quick", is_default=True)


@pytest.fixture
def team() -> Team:
    team = Team()
    add_indexed(team.base, "Low", "Low water stands at two metres.", owner=team.users["owner"])
    return team


def invite(team: Team, role: str, name: str = "stranger") -> str:
    made = send(team.clients["owner"], "post", f"{team.path}members/", {"user": name, "role": role})
    assert made.status_code == 201, made.content
    assert made.json()["accepted"] is False
    return str(made.json()["id"])


def promote(team: Team, role: str) -> None:
    path = f"{team.path}members/{team.member(role)}/"
    assert send(team.clients["owner"], "patch", path, {"role": "owner"}).status_code == 200


def accept(team: Team, who: str = "stranger", **body: bool) -> Any:
    return send(team.clients[who], "post", f"{team.path}accept/", body)


def membership(team: Team) -> KnowledgeBaseMember:
    return team.base.members.get(user=team.users["stranger"])


def leave(team: Team, who: str) -> Any:
    return team.clients[who].delete(f"{team.path}members/{team.member(who)}/")


class TestPending:
    def test_the_base_is_listed_as_an_invitation_and_searched_at_once(self, team: Team) -> None:
        invite(team, "reader")
        [listed] = team.clients["stranger"].get(BASES).json()
        assert (listed["id"], listed["accepted"], listed["role"]) == (str(team.base.pk), False, "reader")
        assert team.clients["stranger"].get(f"{team.path}search/?q=water").json()[0]["title"] == "Low"
        assert membership(team).is_accepted is False

    def test_the_owners_see_who_has_accepted(self, team: Team) -> None:
        invite(team, "reader")
        listed = team.clients["owner"].get(f"{team.path}members/").json()
        assert {one["user"]: one["accepted"] for one in listed} == {
            "owner": True, "editor": True, "reader": True, "restricted": True, "stranger": False,
        }  # fmt: skip

    def test_nothing_is_pushed_before_and_everything_after(
        self, team: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told: list[int] = []
        monkeypatch.setattr(session_list, "publish", lambda user, _line: told.append(user))
        stranger, owner = team.users["stranger"].pk, team.users["owner"].pk
        invite(team, "reader")
        send(team.clients["owner"], "patch", team.path, {"name": "Ebb"})
        assert (stranger in told, owner in told) == (False, True)
        told.clear()
        assert accept(team).json()["accepted"] is True
        assert {stranger, owner} <= set(told)
        told.clear()
        accept(team)  # again: others are told of changes alone
        assert told == []
        send(team.clients["owner"], "patch", team.path, {"name": "Flood"})
        assert stranger in told

    def test_it_is_declined_by_leaving(self, team: Team) -> None:
        invite(team, "restricted")
        assert leave(team, "stranger").status_code == 204
        assert team.clients["stranger"].get(BASES).json() == []

    def test_nobody_else_accepts(self, team: Team) -> None:
        assert refusal(accept(team)) == (404, "knowledge_base_not_found")

    def test_an_invited_owner_exports_no_documents_of_others(self, team: Team) -> None:
        invite(team, "owner")
        archive = zipfile.ZipFile(io.BytesIO(b"".join(account_archive(team.users["stranger"]))))
        assert json.decode(archive.read("knowledge-bases.json")) == []


class TestChoosing:
    """What the user does with the base accepts it; reading does not."""

    def test_binding_it_to_a_chat_or_an_agent(self, team: Team) -> None:
        client, bound = team.clients["stranger"], {"knowledge_bases": [str(team.base.pk)]}
        for path, body in (
            ("/api/sessions/", bound),
            ("/api/agents/", {"name": "Sea", "prompt": "", **bound}),
        ):
            invite(team, "reader")
            made = send(client, "post", path, body)
            assert made.status_code == 201, made.content
            assert membership(team).is_accepted is True
            membership(team).delete()

    def test_picking_it_with_a_question(self, team: Team) -> None:
        invite(team, "restricted")
        session = Session.objects.start(team.users["stranger"])
        body = {"text": "How high?", "knowledge_bases": [str(team.base.pk)]}
        sent = send(team.clients["stranger"], "post", f"/api/sessions/{session.pk}/turns/", body)
        assert sent.status_code == 202, sent.content
        assert membership(team).is_accepted is True

    def test_changing_what_it_holds(self, team: Team) -> None:
        invite(team, "editor")
        body = {"title": "High", "text": "High water."}
        assert send(team.clients["stranger"], "post", f"{team.path}documents/", body).status_code == 201
        assert membership(team).is_accepted is True

    def test_an_owner_who_changes_it_has_not_accepted_that_it_counts(self, team: Team) -> None:
        invite(team, "owner")
        assert send(team.clients["stranger"], "patch", team.path, {"summary": "Sea."}).status_code == 200
        assert (membership(team).is_accepted, membership(team).is_ownership_accepted) == (True, False)


class TestFlood:
    def bases(self, team: Team) -> list[KnowledgeBase]:
        return [
            KnowledgeBase.objects.start(team.users["owner"], name=f"Tides {n}")
            for n in range(MAX_INVITATIONS)
        ]

    def ask(self, team: Team, base: KnowledgeBase) -> Any:
        body = {"user": "stranger", "role": "reader"}
        return send(team.clients["owner"], "post", f"{BASES}{base.pk}/members/", body)

    def test_no_more_wait_than_allowed_until_one_is_accepted(self, team: Team) -> None:
        invite(team, "reader")
        *bases, last = self.bases(team)
        assert {self.ask(team, base).status_code for base in bases} == {201}
        refused = self.ask(team, last)
        assert refusal(refused) == (429, "too_many_invitations")
        assert refused.json()["max"] == MAX_INVITATIONS
        accept(team)
        assert self.ask(team, last).status_code == 201

    def test_nor_side_by_side(self, team: Team) -> None:
        invite(team, "reader")
        *bases, one, other = self.bases(team)
        assert {self.ask(team, base).status_code for base in bases} == {201}
        statuses = run_concurrently(
            lambda: self.ask(team, one).status_code, lambda: self.ask(team, other).status_code
        )
        assert sorted(statuses) == [201, 429]


class TestOwnership:
    """A base counts for nobody who has not agreed to that."""

    @pytest.mark.parametrize("agreed", [False, True])
    def test_the_last_owner_who_agreed_stays(self, team: Team, agreed: bool) -> None:
        promote(team, "editor")
        if agreed:
            assert accept(team, "editor", ownership=True).json()["accepted_ownership"] is True
            assert leave(team, "owner").status_code == 204
            assert KnowledgeBase.objects.get().owner == team.users["editor"]
            return
        accept(team, "editor")
        assert refusal(leave(team, "owner")) == (409, "last_owner")
        demoted = send(
            team.clients["owner"], "patch", f"{team.path}members/{team.member('owner')}/", {"role": "reader"}
        )
        assert refusal(demoted) == (409, "last_owner")
        assert KnowledgeBase.objects.get().owner == team.users["owner"]
        assert quotas.KNOWLEDGE_BASES.use(team.users["editor"]) == 0

    def test_no_reader_accepts_it(self, team: Team) -> None:
        invite(team, "reader")
        assert refusal(accept(team, ownership=True)) == (403, "not_allowed")
        assert membership(team).is_accepted is False

    def test_it_is_accepted_anew_after_another_role(self, team: Team) -> None:
        promote(team, "editor")
        accept(team, "editor", ownership=True)
        path = f"{team.path}members/{team.member('editor')}/"
        send(team.clients["owner"], "patch", path, {"role": "reader"})
        promote(team, "editor")
        assert refusal(leave(team, "owner")) == (409, "last_owner")

    def test_who_removes_the_owner_it_counts_for_has_accepted_it(self, team: Team) -> None:
        promote(team, "editor")
        removed = team.clients["editor"].delete(f"{team.path}members/{team.member('owner')}/")
        assert removed.status_code == 204
        assert KnowledgeBase.objects.get().owner == team.users["editor"]
        assert team.base.members.get(user=team.users["editor"]).is_ownership_accepted is True

    @pytest.mark.parametrize("by_sweeper", [False, True])
    def test_a_deleted_account_leaves_it_to_nobody_who_did_not_agree(
        self, team: Team, by_sweeper: bool
    ) -> None:
        promote(team, "editor")
        promote(team, "reader")
        accept(team, "reader", ownership=True)
        kept = KnowledgeBase.objects.start(team.users["owner"], name="Ebb")
        kept.members.create(user=team.users["editor"], role="owner", is_ownership_accepted=False)
        if by_sweeper:
            AccountDeletion.objects.create(user=team.users["owner"])
            for _ in range(3):
                delete_accounts()
        else:
            team.users["owner"].delete()
        assert KnowledgeBase.objects.get().owner == team.users["reader"]
