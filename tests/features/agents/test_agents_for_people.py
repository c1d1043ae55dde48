"""Agents that are shared with single people by their names: who reads and uses them, and until when."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from rest_framework.test import APIClient

from chat.models import AccountDeletion, Agent, Session
from chat.sweeper.accounts import delete_accounts
from features.agents import sharing
from tests import factories
from web.accounts import UNKNOWN_NAMES

AGENTS = "/api/agents/"


@pytest.fixture
def bob() -> User:
    return factories.create_user("bob")


@pytest.fixture
def guest(bob: User) -> APIClient:
    return factories.api_client(bob)


def write(client: APIClient, *users: str, agent: str = "", status: int = 0, **fields: Any) -> Any:
    """Create an agent, or change one."""
    body = {"shared_with_users": users, **fields}
    if agent:
        response = client.patch(f"{AGENTS}{agent}/", body, format="json")
    else:
        response = client.post(AGENTS, {"name": "Tides", "prompt": "Be brief.", **body}, format="json")
    assert response.status_code == (status or (200 if agent else 201)), response.json()
    return response.json()


def session_of(client: APIClient, agent: str) -> str:
    return str(client.post("/api/sessions/", {"agent": agent}, format="json").json()["id"])


class TestWhoSeesThem:
    def test_a_person_reads_it_and_not_who_else_does(self, client: APIClient, guest: APIClient) -> None:
        factories.create_user("carol")
        kept = write(client, "carol", "bob", "bob")
        assert (kept["shared_with_users"], kept["is_shared_by_name"]) == (["bob", "carol"], False)
        [seen] = guest.get(AGENTS).json()
        assert (seen["id"], seen["shared_by"], seen["prompt"]) == (kept["id"], "alice", "Be brief.")
        assert (seen["shared_with_users"], seen["is_shared_by_name"]) == ([], True)

    def test_it_is_listed_once_beside_a_group(
        self, client: APIClient, guest: APIClient, alice: User, bob: User
    ) -> None:
        crew = Group.objects.create(name="Crew")
        for user in (alice, bob):
            user.groups.add(crew)
        agent = write(client, "bob", shared_with=[crew.pk])["id"]
        assert [each["id"] for each in guest.get(AGENTS).json()] == [agent]
        assert guest.delete(f"{AGENTS}{agent}/share/").status_code == 204
        [seen] = guest.get(AGENTS).json()
        assert (seen["id"], seen["is_shared_by_name"]) == (agent, False)

    def test_a_person_changes_nothing_and_shares_it_with_nobody(
        self, client: APIClient, guest: APIClient
    ) -> None:
        agent = write(client, "bob")["id"]
        factories.create_user("carol")
        assert write(guest, "carol", agent=agent, status=403)["code"] == "permission_denied"
        assert guest.delete(f"{AGENTS}{agent}/").status_code == 403
        assert Agent.objects.get().shared_with_users.count() == 1

    def test_for_others_there_is_none(self, client: APIClient, bob: User) -> None:
        agent = write(client, "bob")["id"]
        stranger = factories.api_client(factories.create_user("carol"))
        assert stranger.get(AGENTS).json() == []
        for url in (f"{AGENTS}{agent}/", f"{AGENTS}{agent}/share/"):
            assert stranger.delete(url).json()["code"] == "agent_not_found"
        refused = stranger.post("/api/sessions/", {"agent": agent}, format="json")
        assert refused.json()["code"] == "agent_not_found"
        assert Agent.objects.get().shared_with_users.get() == bob


class TestWhoShares:
    def test_names_that_nobody_has_are_refused_and_change_nothing(self, client: APIClient, bob: User) -> None:
        agent = write(client, "bob")["id"]
        User.objects.filter(pk=factories.create_user("carol").pk).update(is_active=False)
        for name in ("nobody", "carol", "BOB"):
            refused = write(client, "bob", name, agent=agent, status=404, name="New")
            assert (refused["code"], refused["field"]) == ("user_not_found", "shared_with_users.1")
        assert write(client, "alice", agent=agent, status=400)["field"] == "shared_with_users.0"
        for wrong in ("bob", [1], [None], [""], ["x" * 151], [f"user {n}" for n in range(51)]):
            response = client.patch(f"{AGENTS}{agent}/", {"shared_with_users": wrong}, format="json")
            assert response.status_code == 400, wrong
        stored = Agent.objects.get()
        assert (stored.name, stored.shared_with_users.get()) == ("Tides", bob)

    def test_who_asks_for_many_names_of_nobody_is_told_no_more(self, client: APIClient, bob: User) -> None:
        write(client, "bob")
        for n in range(UNKNOWN_NAMES[0]):
            write(client, f"nobody {n}", status=404)
        assert write(client, "nobody", status=429)["code"] == "rate_limited"
        assert write(client, "bob", status=429)["code"] == "rate_limited"
        base = client.post("/api/knowledge-bases/", {"name": "Tides"}, format="json").json()["id"]
        body = {"user": "nobody", "role": "reader"}
        assert client.post(f"/api/knowledge-bases/{base}/members/", body, format="json").status_code == 429

    def test_names_of_somebody_are_not_counted(self, client: APIClient, bob: User) -> None:
        agent = write(client)["id"]
        for _ in range(UNKNOWN_NAMES[0] + 1):
            write(client, "bob", agent=agent)
            write(client, agent=agent)

    def test_one_person_gets_so_many_agents_of_one_owner(
        self, client: APIClient, bob: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sharing, "MAX_AGENTS_PER_PERSON", 1)
        agent = write(client, "bob")["id"]
        refused = write(client, "bob", status=429)
        assert (refused["code"], refused["max"]) == ("too_many_shared_agents", 1)
        assert Agent.objects.count() == 1
        write(client, "bob", agent=agent, name="New")
        other = write(factories.api_client(factories.create_user("carol")), "bob")["id"]
        assert {str(each.pk) for each in Agent.objects.usable_by(bob)} == {agent, other}

    def test_a_change_that_names_no_people_leaves_them(self, client: APIClient, bob: User) -> None:
        agent = write(client, "bob")["id"]
        User.objects.filter(pk=bob.pk).update(is_active=False)
        changed = client.patch(f"{AGENTS}{agent}/", {"name": "New"}, format="json").json()
        assert (changed["name"], changed["shared_with_users"]) == ("New", ["bob"])
        assert write(client, "bob", agent=agent)["shared_with_users"] == ["bob"], "as it was read"
        body = {"name": "New", "prompt": ""}
        replaced = client.put(f"{AGENTS}{agent}/", body, format="json").json()
        assert replaced["shared_with_users"] == []


class TestChats:
    @pytest.mark.parametrize("way", ["taken away", "left", "closed"])
    def test_who_loses_it_goes_on_without(
        self, client: APIClient, guest: APIClient, alice: User, way: str
    ) -> None:
        agent = write(client, "bob", models=["deep", "quick"])["id"]
        session = session_of(guest, agent)
        assert len(factories.complete_turn(guest, session)["runs"]) == 2
        if way == "taken away":
            write(client, agent=agent)
        elif way == "left":
            assert guest.delete(f"{AGENTS}{agent}/share/").status_code == 204
        else:
            User.objects.filter(pk=alice.pk).update(is_active=False)
        assert guest.get(f"{AGENTS}{agent}/").status_code == 404
        assert len(factories.complete_turn(guest, session)["runs"]) == 1
        assert Session.objects.get(pk=session).agent is None

    def test_an_own_one_is_not_left(self, client: APIClient) -> None:
        agent = write(client)["id"]
        assert client.delete(f"{AGENTS}{agent}/share/").status_code == 204
        assert client.get(f"{AGENTS}{agent}/").status_code == 200

    def test_a_deleted_account_is_named_no_more(self, client: APIClient, guest: APIClient, bob: User) -> None:
        agent = write(client, "bob")["id"]
        session_of(guest, agent)
        User.objects.filter(pk=bob.pk).update(is_active=False)
        AccountDeletion.objects.create(user=bob)
        while delete_accounts():
            pass
        assert not User.objects.filter(username="bob").exists()
        assert client.get(f"{AGENTS}{agent}/").json()["shared_with_users"] == []

    def test_a_deleted_owner_takes_it_along(self, client: APIClient, guest: APIClient, alice: User) -> None:
        agent = write(client, "bob")["id"]
        session = session_of(guest, agent)
        alice.delete()
        assert guest.get(AGENTS).json() == []
        assert guest.get(f"/api/sessions/{session}/").json()["agent"] is None
