"""Knowledge bases and their members: keeping them, who may do what, and what others are told."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.runs import quotas
from chat.sweeper import base_deletion
from knowledge.bases import is_routing_hint
from knowledge.models import Document, KnowledgeBase, KnowledgeBaseMember, MembershipChange
from tests import factories
from tests.concurrency import run_concurrently
from tests.features.knowledge_bases.knowledge_bases import BASES, ROLES, Team, refusal, send
from web.accounts import UNKNOWN_NAMES

WHOLE = {
    "name": "Tides",
    "summary": "All of the sea.",
    "topics": ["Moon", "Sun"],
    "routing_hint": "Questions about the sea",
    "routing_keywords": ["tide", "moon"],
}


@pytest.fixture
def team(db: None) -> Team:
    return Team()


def create(client: APIClient, **fields: Any) -> dict[str, Any]:
    response = send(client, "post", BASES, WHOLE | fields)
    assert response.status_code == 201, response.json()
    return dict(response.json())


class TestKeepingBases:
    def test_a_new_base_is_read_as_it_was_written(self, client: APIClient) -> None:
        made = create(client)
        assert {name: made[name] for name in WHOLE} == WHOLE
        assert (made["role"], made["owner"]) == ("owner", "alice")
        assert made["documents"] == {"processing": 0, "ready": 0, "failed": 0}
        assert made["indexing"] == {"chunks": 0, "waiting": 0}
        assert client.get(f"{BASES}{made['id']}/").json() == made
        assert client.get(BASES).json() == [made]

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"name": " "}, "name"),
            ({"name": "x" * 201}, "name"),
            ({"topics": ["x"] * 31}, "topics"),
            ({"topics": ["x" * 101]}, "topics.0"),
            ({"routing_hint": "x" * 201}, "routing_hint"),
            ({"routing_keywords": ["x"] * 6}, "routing_keywords"),
            ({"routing_keywords": ["x" * 49]}, "routing_keywords.0"),
            ({"routing_keywords": [" "]}, "routing_keywords.0"),
            ({"routing_hint": "It has 12 parts"}, "routing_hint"),
            ({"routing_hint": 'The text "low water"'}, "routing_hint"),
            ({"routing_hint": "# Salaries"}, "routing_hint"),
            ({"routing_keywords": ["grade 7"]}, "routing_keywords.0"),
            ({"owner": "bob"}, "owner"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, client: APIClient, change: Any, field: str) -> None:
        response = send(client, "post", BASES, WHOLE | change)
        assert (response.status_code, response.json()["field"]) == (400, field)
        assert not KnowledgeBase.objects.exists()

    def test_replacing_resets_and_updating_keeps_what_is_left_out(self, client: APIClient) -> None:
        path = f"{BASES}{create(client)['id']}/"
        assert send(client, "patch", path, {"topics": []}).json()["summary"] == WHOLE["summary"]
        assert send(client, "put", path, {"name": "Sea"}).json()["summary"] == ""

    def test_pages_of_the_list_follow_each_other(self, client: APIClient) -> None:
        made = [create(client, name=name)["id"] for name in "abc"]
        first = [one["id"] for one in client.get(f"{BASES}?limit=2").json()]
        rest = [one["id"] for one in client.get(f"{BASES}?limit=2&before={first[-1]}").json()]
        assert first + rest == made[::-1]

    def test_one_more_than_allowed_is_refused_until_one_is_deleted(
        self, client: APIClient, settings: Any
    ) -> None:
        settings.MAX_KNOWLEDGE_BASES_PER_USER = 1
        made = create(client)
        response = send(client, "post", BASES, WHOLE)
        assert (*refusal(response), response.json()["max"]) == (409, "too_many_knowledge_bases", 1)
        assert client.delete(f"{BASES}{made['id']}/").status_code == 204
        create(client)

    def test_limits_say_what_is_used(self, client: APIClient, alice: Any) -> None:
        create(client)
        uses = {use.code: use.used for use in quotas.limit_uses(alice)}
        assert (uses["knowledge_bases"], uses["chunks"]) == (1, 0)


# What each role gets, in the order of ROLES: owner, editor, reader, restricted, stranger.
NO, GONE = (403, "not_allowed"), (404, "knowledge_base_not_found")
RIGHTS: list[tuple[str, str, Any, list[Any]]] = [
    ("get", "", None, [200, 200, 200, 200, GONE]),
    ("put", "", {"name": "Sea"}, [200, NO, NO, NO, GONE]),
    ("patch", "", {"name": "Sea"}, [200, NO, NO, NO, GONE]),
    ("delete", "", None, [204, NO, NO, NO, GONE]),
    ("get", "search/?q=low", None, [200, 200, 200, GONE, GONE]),
    ("get", "members/", None, [200, 200, 200, NO, GONE]),
    ("post", "members/", {"user": "bob", "role": "reader"}, [201, NO, NO, NO, GONE]),
    ("patch", "members/{reader}/", {"role": "editor"}, [200, NO, NO, NO, GONE]),
    ("delete", "members/{other}/", None, [204, NO, NO, NO, GONE]),
]  # fmt: skip


def rights() -> list[Any]:
    return [
        pytest.param(method, path, body, role, answer, id=f"{role} {method} {path}")
        for method, path, body, answers in RIGHTS
        for role, answer in zip(ROLES, answers, strict=True)
    ]


@pytest.mark.parametrize(("method", "path", "body", "role", "answer"), rights())
def test_what_a_role_may_do(team: Team, method: str, path: str, body: Any, role: str, answer: Any) -> None:
    factories.create_user("bob")
    other = team.base.members.create(user=factories.create_user("other"), role="reader")
    path = team.path + path.format(reader=team.member("reader"), other=other.pk)
    response = send(team.clients[role], method, path, body)
    if isinstance(answer, int):
        assert response.status_code == answer
    else:
        assert refusal(response) == answer
        assert KnowledgeBase.objects.get().name == "Tides"
        assert KnowledgeBaseMember.objects.count() == 5


def test_a_restricted_member_learns_nothing_of_the_content(team: Team) -> None:
    [shown] = team.clients["restricted"].get(BASES).json()
    assert (shown["name"], shown["routing_hint"], shown["role"]) == ("Tides", "The sea", "restricted")
    assert (shown["summary"], shown["topics"], shown["documents"], shown["indexing"]) == ("", [], None, None)
    assert team.clients["restricted"].get(team.path).json() == shown


class TestMembers:
    def test_readers_see_everybody(self, team: Team) -> None:
        shown = team.clients["reader"].get(f"{team.path}members/").json()
        assert [(one["user"], one["role"]) for one in shown] == [(role, role) for role in ROLES[:4]]

    def test_a_name_that_nobody_has_and_a_member_twice_are_refused(self, team: Team) -> None:
        owner, path = team.clients["owner"], f"{team.path}members/"
        assert refusal(send(owner, "post", path, {"user": "nobody", "role": "reader"})) == (
            404,
            "user_not_found",
        )
        assert refusal(send(owner, "post", path, {"user": "editor", "role": "reader"})) == (
            409,
            "already_member",
        )

    @pytest.mark.parametrize("role", ["editor", "reader", "restricted"])
    def test_everybody_may_leave(self, team: Team, role: str) -> None:
        client = team.clients[role]
        own = client.get(team.path).json()["member"]
        assert client.delete(f"{team.path}members/{own}/").status_code == 204
        assert refusal(client.get(team.path)) == (404, "knowledge_base_not_found")

    def test_the_last_owner_stays(self, team: Team) -> None:
        owner, path = team.clients["owner"], f"{team.path}members/{team.member('owner')}/"
        assert refusal(owner.delete(path)) == (409, "last_owner")
        assert refusal(send(owner, "patch", path, {"role": "reader"})) == (409, "last_owner")

    def test_documents_count_for_the_next_owner_when_the_first_one_leaves(self, team: Team) -> None:
        Document.objects.create(owner=team.users["owner"], knowledge_base=team.base, name="Low", size_bytes=9)
        send(
            team.clients["owner"], "patch", f"{team.path}members/{team.member('editor')}/", {"role": "owner"}
        )
        send(team.clients["editor"], "post", f"{team.path}accept/", {"ownership": True})
        assert team.clients["owner"].delete(f"{team.path}members/{team.member('owner')}/").status_code == 204
        assert KnowledgeBase.objects.get().owner == team.users["editor"]
        assert Document.objects.get().owner == team.users["editor"]

    def test_owners_carry_no_quota_and_the_one_it_counts_for_hands_it_to_one_with_room(
        self, team: Team, settings: Any
    ) -> None:
        settings.MAX_KNOWLEDGE_BASES_PER_USER = 1
        owner, own = team.clients["owner"], f"{team.path}members/{team.member('owner')}/"
        for role in ("editor", "reader"):
            KnowledgeBase.objects.start(team.users[role], name="Full")
            made = send(owner, "patch", f"{team.path}members/{team.member(role)}/", {"role": "owner"})
            assert made.status_code == 200
            send(team.clients[role], "post", f"{team.path}accept/", {"ownership": True})
        assert KnowledgeBase.objects.get(pk=team.base.pk).owner == team.users["owner"]
        for method, body in (("delete", None), ("patch", {"role": "reader"})):
            assert refusal(send(owner, method, own, body)) == (409, "owner_without_room")
        KnowledgeBase.objects.get(owner=team.users["reader"]).delete()
        assert owner.delete(own).status_code == 204
        assert KnowledgeBase.objects.get(pk=team.base.pk).owner == team.users["reader"]

    @pytest.mark.parametrize(
        ("limit", "most"), [("MAX_STORED_BYTES_PER_USER", 10), ("MAX_CHUNKS_PER_USER", 2)]
    )
    def test_what_a_base_holds_passes_to_no_owner_who_has_no_room_for_it(
        self, team: Team, settings: Any, limit: str, most: int
    ) -> None:
        held = {"owner": team.users["owner"], "knowledge_base": team.base, "name": "Low"}
        Document.objects.create(**held, size_bytes=9, chunk_count=1)
        Document.objects.create(owner=team.users["editor"], name="Own", size_bytes=2, chunk_count=2)
        team.base.members.filter(user=team.users["editor"]).update(role="owner")
        own = f"{team.path}members/{team.member('owner')}/"
        setattr(settings, limit, most)
        assert refusal(team.clients["owner"].delete(own)) == (409, "owner_without_room")
        assert Document.objects.get(name="Low").owner == team.users["owner"]
        setattr(settings, limit, most + 1)
        assert team.clients["owner"].delete(own).status_code == 204
        assert Document.objects.get(name="Low").owner == team.users["editor"]

    def test_who_removes_the_owner_it_counts_for_gets_it(self, team: Team) -> None:
        team.base.members.filter(user__in=[team.users["editor"], team.users["reader"]]).update(role="owner")
        removed = team.clients["reader"].delete(f"{team.path}members/{team.member('owner')}/")
        assert removed.status_code == 204
        assert KnowledgeBase.objects.get().owner == team.users["reader"]

    def test_an_owner_it_does_not_count_for_leaves_whoever_has_room(self, team: Team, settings: Any) -> None:
        settings.MAX_KNOWLEDGE_BASES_PER_USER = 1
        team.base.members.filter(user=team.users["editor"]).update(role="owner")
        left = team.clients["editor"].delete(f"{team.path}members/{team.member('editor')}/")
        assert left.status_code == 204
        assert KnowledgeBase.objects.get().owner == team.users["owner"]

    def test_each_change_is_recorded_with_who_made_it(self, team: Team) -> None:
        owner, path = team.clients["owner"], f"{team.path}members/"
        factories.create_user("bob")
        bob = send(owner, "post", path, {"user": "bob", "role": "reader"}).json()["id"]
        send(owner, "patch", f"{path}{bob}/", {"role": "restricted"})
        send(owner, "patch", f"{path}{bob}/", {"role": "restricted"})
        send(owner, "delete", f"{path}{bob}/")
        send(owner, "delete", team.path)
        changes = MembershipChange.objects.order_by("id").values_list("actor", "user", "before", "after")
        assert list(changes)[:3] == [
            ("owner", "bob", "", "reader"),
            ("owner", "bob", "reader", "restricted"),
            ("owner", "bob", "restricted", ""),
        ]
        assert {(user, before) for _, user, before, _ in changes[3:]} == {(role, role) for role in ROLES[:4]}


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_leave_at_once_leave_one_behind() -> None:
    team = Team()
    team.base.members.filter(user=team.users["editor"]).update(role="owner")
    paths = {role: f"{team.path}members/{team.member(role)}/" for role in ("owner", "editor")}

    def leave(role: str) -> int:
        return int(team.clients[role].delete(paths[role]).status_code)

    statuses = run_concurrently(lambda: leave("owner"), lambda: leave("editor"))
    assert sorted(statuses) == [204, 409]
    assert team.base.members.filter(role="owner").count() == 1


def test_a_deleted_base_is_gone_at_once_and_what_it_held_soon(team: Team) -> None:
    number = base_deletion.BATCH + 1
    Document.objects.bulk_create(
        Document(owner=team.users["owner"], knowledge_base=team.base, name="Low") for _ in range(number)
    )
    assert team.clients["owner"].delete(team.path).status_code == 204
    assert all(client.get(BASES).json() == [] for client in team.clients.values())
    assert Document.objects.count() == number
    base = KnowledgeBase.objects.deleted().get()
    assert [base_deletion.purge_base(base) for _ in range(3)] == [base_deletion.BATCH, 1, 1]
    assert not KnowledgeBase.objects.exists()


@pytest.mark.parametrize(
    ("text", "is_hint"),
    [
        ("Questions about the sea's tides, ships and harbours", True),
        ("Fragen zu Gezeiten und Häfen, auch zur Fähre", True),
        ("", True),
        ("Level ٣", False),
        ("x²", False),
        ("„Ebbe“", False),
        ("so-called 'low water'", False),
        ("«marée»", False),
        ("Tides\n=====", False),
        ("Tides ## Salaries", False),
        ("C sharp is C#", True),
    ],
)
def test_hints_have_no_numbers_quotations_and_headings(text: str, is_hint: bool) -> None:
    assert is_routing_hint(text) is is_hint


def test_names_of_users_are_guessed_slowly(alice: Any) -> None:
    """Beside that, as many members as there are users are added."""
    most = UNKNOWN_NAMES[0]
    base = KnowledgeBase.objects.start(alice, name="Tides")
    path, client = f"/api/knowledge-bases/{base.pk}/members/", factories.api_client(alice)

    def add(name: str) -> tuple[int, str]:
        answer = client.post(path, {"user": name, "role": "reader"}, format="json")
        return answer.status_code, answer.json().get("code", "")

    for number in range(most + 2):
        factories.create_user(f"reader{number}")
        assert add(f"reader{number}") == (201, "")
    for number in range(most):
        assert add(f"nobody{number}") == (404, "user_not_found")
    factories.create_user("bob")
    for name in ("nobody", "bob"):
        assert add(name) == (429, "rate_limited")
