"""Agents that are shared with groups: their members read and use them, and see no more of knowledge bases than before."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from rest_framework.test import APIClient

from chat.models import Agent, Run, Session, SessionEvent
from chat.turns.knowledge_bases import load_bound_bases
from knowledge.models import KnowledgeBase, KnowledgeBaseMember
from tests import factories

AGENTS = "/api/agents/"


@pytest.fixture
def crew(alice: User) -> Group:
    """A group of alice and bob."""
    group = Group.objects.create(name="Crew")
    alice.groups.add(group)
    return group


@pytest.fixture
def bob(crew: Group) -> User:
    made = factories.create_user("bob", first_name="Bob")
    made.groups.add(crew)
    return made


@pytest.fixture
def guest(bob: User) -> APIClient:
    return factories.api_client(bob)


def create_agent(client: APIClient, *groups: Group, **fields: Any) -> str:
    body = {"name": "Tides", "prompt": "Be brief.", "shared_with": [group.pk for group in groups], **fields}
    response = client.post(AGENTS, body, format="json")
    assert response.status_code == 201, response.json()
    return str(response.json()["id"])


def session_of(client: APIClient, agent: str) -> str:
    return str(client.post("/api/sessions/", {"agent": agent}, format="json").json()["id"])


def unshare(client: APIClient, agent: str) -> None:
    assert client.patch(f"{AGENTS}{agent}/", {"shared_with": []}, format="json").status_code == 200


class TestWhoSeesThem:
    def test_a_member_reads_it_and_is_told_whose_it_is(
        self, client: APIClient, guest: APIClient, crew: Group
    ) -> None:
        agent = create_agent(client, crew)
        own = create_agent(guest)
        assert [each["id"] for each in guest.get(AGENTS).json()] == [own, agent]
        seen, kept = guest.get(f"{AGENTS}{agent}/").json(), client.get(f"{AGENTS}{agent}/").json()
        assert (seen["shared_by"], seen["shared_with"], seen["prompt"]) == ("alice", [], "Be brief.")
        assert (kept["shared_by"], kept["shared_with"]) == (None, [crew.pk])

    def test_pages_go_through_own_and_shared_ones_once(
        self, client: APIClient, guest: APIClient, alice: User, bob: User, crew: Group
    ) -> None:
        other = Group.objects.create(name="Deck")
        for member in (bob, alice):
            member.groups.add(other)
        made = [create_agent(one, *groups) for one, groups in [(client, (crew, other)), (guest, ())] * 3]
        seen: list[str] = []
        while len(seen) < len(made):
            before = f"&before={seen[-1]}" if seen else ""
            page = guest.get(f"{AGENTS}?limit=2{before}").json()
            seen += [each["id"] for each in page]
        assert seen == made[::-1]

    @pytest.mark.parametrize("method", ["put", "patch", "delete"])
    def test_a_member_changes_nothing(
        self, client: APIClient, guest: APIClient, crew: Group, method: str
    ) -> None:
        agent = create_agent(client, crew)
        body = {"name": "Mine", "prompt": "", "shared_with": []}
        answer = getattr(guest, method)(f"{AGENTS}{agent}/", body, format="json")
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
        assert Agent.objects.get().name == "Tides"

    def test_others_do_not_see_that_there_is_one(self, client: APIClient, crew: Group) -> None:
        agent = create_agent(client, crew)
        stranger = factories.api_client(factories.create_user("carol"))
        for method in ("get", "put", "patch", "delete"):
            assert getattr(stranger, method)(f"{AGENTS}{agent}/", {}, format="json").status_code == 404
        assert stranger.get(AGENTS).json() == []
        refused = stranger.post("/api/sessions/", {"agent": agent}, format="json")
        assert refused.json()["code"] == "agent_not_found"

    def test_one_of_a_closed_account_is_not_offered(
        self, client: APIClient, guest: APIClient, alice: User, crew: Group
    ) -> None:
        create_agent(client, crew)
        User.objects.filter(pk=alice.pk).update(is_active=False)
        assert guest.get(AGENTS).json() == []


class TestWhoShares:
    def test_with_own_groups_alone(self, client: APIClient, crew: Group) -> None:
        foreign = Group.objects.create(name="Others")
        assert client.get("/api/groups/").json() == [{"id": crew.pk, "name": "Crew", "is_member": True}]
        for groups in ([foreign.pk], [crew.pk, foreign.pk], [2**31 - 1]):
            body = {"name": "x", "prompt": "", "shared_with": groups}
            assert client.post(AGENTS, body, format="json").status_code == 400
        for wrong in (["1"], [0], [2**40], list(range(1, 60)), "x", [None], [True]):
            body = {"name": "x", "prompt": "", "shared_with": wrong}
            assert client.post(AGENTS, body, format="json").status_code == 400
        assert not Agent.objects.exists()

    def test_staff_who_may_change_agents_share_with_any(self, client: APIClient, alice: User) -> None:
        foreign = Group.objects.create(name="Others")
        User.objects.filter(pk=alice.pk).update(is_staff=True)
        client.force_authenticate(User.objects.get(pk=alice.pk))
        body = {"name": "x", "prompt": "", "shared_with": [foreign.pk]}
        assert client.post(AGENTS, body, format="json").status_code == 400
        alice.user_permissions.add(Permission.objects.get(codename="change_agent"))
        client.force_authenticate(User.objects.get(pk=alice.pk))
        assert client.get("/api/groups/").json() == [{"id": foreign.pk, "name": "Others", "is_member": False}]
        create_agent(client, foreign)

    def test_a_group_that_the_owner_has_left_stays_until_it_is_taken_away(
        self, client: APIClient, guest: APIClient, alice: User, crew: Group
    ) -> None:
        agent = create_agent(client, crew)
        alice.groups.remove(crew)
        assert [each["is_member"] for each in client.get("/api/groups/").json()] == [False]
        body = {"name": "New", "shared_with": [crew.pk]}
        assert client.patch(f"{AGENTS}{agent}/", body, format="json").status_code == 200
        assert [each["name"] for each in guest.get(AGENTS).json()] == ["New"]
        unshare(client, agent)
        assert client.patch(f"{AGENTS}{agent}/", body, format="json").status_code == 400


class TestChats:
    def test_it_answers_in_a_chat_of_a_member(self, client: APIClient, guest: APIClient, crew: Group) -> None:
        agent = create_agent(client, crew, models=["deep", "quick"])
        turn = factories.complete_turn(guest, session_of(guest, agent))
        assert [run["model"] for run in turn["runs"]] == ["deep", "quick"]

    @pytest.mark.parametrize("way", ["unshared", "left", "closed"])
    def test_who_loses_it_reads_the_chat_and_goes_on_without(
        self, client: APIClient, guest: APIClient, bob: User, alice: User, crew: Group, way: str
    ) -> None:
        agent = create_agent(client, crew, models=["deep", "quick"])
        session = session_of(guest, agent)
        question = factories.complete_turn(guest, session)["user_message"]
        if way == "unshared":
            unshare(client, agent)
        elif way == "left":
            bob.groups.remove(crew)
        else:
            User.objects.filter(pk=alice.pk).update(is_active=False)
        assert guest.get(f"{AGENTS}{agent}/").status_code == 404
        assert len(guest.get(f"/api/sessions/{session}/messages/").json()) == 2
        again = guest.post(f"/api/messages/{question}/regenerations/", {}, format="json")
        assert again.status_code == 202
        stored = Session.objects.get(pk=session)
        assert (stored.agent, stored.own_models) == (None, [])
        events = SessionEvent.objects.filter(session=session, kind="session")
        assert events.latest("n").payload["agent"] is None

    def test_a_new_question_is_answered_without_it_by_the_default_model(
        self, client: APIClient, guest: APIClient, crew: Group
    ) -> None:
        agent = create_agent(client, crew, models=["deep", "quick"])
        session = session_of(guest, agent)
        factories.complete_turn(guest, session)
        unshare(client, agent)
        turn = factories.complete_turn(guest, session)
        assert len(turn["runs"]) == 1
        assert guest.get(f"/api/sessions/{session}/").json()["agent"] is None

    def test_the_owners_own_chats_keep_it(self, client: APIClient, crew: Group) -> None:
        agent = create_agent(client, crew)
        session = session_of(client, agent)
        unshare(client, agent)
        factories.complete_turn(client, session)
        assert client.get(f"/api/sessions/{session}/").json()["agent"] == agent

    def test_chats_of_members_go_on_when_it_is_deleted(
        self, client: APIClient, guest: APIClient, crew: Group
    ) -> None:
        agent = create_agent(client, crew)
        session = session_of(guest, agent)
        assert client.delete(f"{AGENTS}{agent}/").status_code == 204
        assert factories.send_turn(guest, session).status_code == 202
        crew.delete()


class TestKnowledgeBases:
    @pytest.fixture
    def bases(self, alice: User, bob: User) -> dict[str, KnowledgeBase]:
        """Of alice: bob is a member of one, a restricted one of another, and knows nothing of the third."""
        made = {}
        for name, role in (("open", "reader"), ("restricted", "restricted"), ("secret", None)):
            made[name] = KnowledgeBase.objects.create(owner=alice, name=name)
            KnowledgeBaseMember.objects.create(knowledge_base=made[name], user=alice, role="owner")
            if role:
                KnowledgeBaseMember.objects.create(knowledge_base=made[name], user=bob, role=role)
        return made

    def test_a_member_sees_and_searches_the_own_bases_alone(
        self, client: APIClient, guest: APIClient, crew: Group, bases: dict[str, KnowledgeBase]
    ) -> None:
        ids = [str(bases[name].pk) for name in ("open", "secret")]
        agent = create_agent(client, crew, knowledge_bases=ids)
        assert guest.get(f"{AGENTS}{agent}/").json()["knowledge_bases"] == ids[:1]
        assert client.get(f"{AGENTS}{agent}/").json()["knowledge_bases"] == ids
        session = session_of(guest, agent)
        factories.complete_turn(guest, session)
        run = Run.objects.get()
        assert ([str(base) for base in run.knowledge_bases], run.knowledge_access) == (ids[:1], "full")
        assert ids[1] not in run.dynamic_context, "not even its id"
        assert guest.get(f"/api/knowledge-bases/{ids[1]}/").status_code == 404
        bound = load_bound_bases(Session.objects.get(pk=session), (), None)
        assert [str(base.id) for base in bound.bases] == ids[:1]

    def test_a_restricted_member_has_restricted_runs(
        self, client: APIClient, guest: APIClient, crew: Group, bases: dict[str, KnowledgeBase]
    ) -> None:
        agent = create_agent(client, crew, knowledge_bases=[str(bases["restricted"].pk)])
        factories.complete_turn(guest, session_of(guest, agent))
        assert Run.objects.get().knowledge_access == "restricted"

    def test_who_shares_makes_nobody_a_member(
        self, client: APIClient, guest: APIClient, crew: Group, bases: dict[str, KnowledgeBase]
    ) -> None:
        before = KnowledgeBaseMember.objects.count()
        agent = create_agent(client, crew, knowledge_bases=[str(bases["secret"].pk)])
        factories.complete_turn(guest, session_of(guest, agent))
        assert Run.objects.get().knowledge_bases == []
        assert KnowledgeBaseMember.objects.count() == before
