"""Nobody ever finds or reads anything of a knowledge base that they cannot read, whatever members do in whichever order.

Random users, memberships and operations, each sent by REST; after every one, everybody looks everywhere. The expectation is a
dictionary of roles, which knows nothing of queries.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from chat.infrastructure.redis_client import sync_redis
from chat.sweeper.files import purge_deleted_bases
from knowledge.models import Document, Extraction, File, FileKind, KnowledgeBase
from knowledge.models.knowledge_base import READING
from tests import factories
from tests.features.knowledge_bases.knowledge_bases import BASES, send
from tests.indexed import index_held

USERS = ("anna", "ben", "cleo", "dora")
ROLES = ("owner", "editor", "reader", "restricted")
WORD = "lighthouse"


class Isolation(RuleBasedStateMachine):
    """By base, the roles of its members and the words of its documents."""

    def __init__(self) -> None:
        super().__init__()
        self.point = transaction.savepoint()
        self.users = {name: factories.create_user(name) for name in USERS}
        self.clients = {name: factories.api_client(user) for name, user in self.users.items()}
        self.roles: dict[str, dict[str, str]] = {}
        self.words: dict[str, dict[str, str]] = {}
        self.number = 0

    def teardown(self) -> None:
        transaction.savepoint_rollback(self.point)

    def pick(self, number: int) -> str | None:
        """A base that was created, deleted ones included."""
        return list(self.roles)[number % len(self.roles)] if self.roles else None

    @initialize()
    def begin(self) -> None:
        """With two bases that the same users read: what of one is found in the other is seen from the start."""
        for number in range(2):
            self.create("anna")
            self.add_document("anna", number)
            self.set_role("anna", "ben", "reader", number)
            self.set_role("anna", "cleo", "restricted", number)

    @rule(user=st.sampled_from(USERS))
    def create(self, user: str) -> None:
        made = send(self.clients[user], "post", BASES, {"name": "Sea", "summary": WORD}).json()["id"]
        self.roles[made], self.words[made] = {user: "owner"}, {}

    @rule(
        actor=st.sampled_from(USERS),
        user=st.sampled_from(USERS),
        role=st.sampled_from(ROLES),
        number=st.integers(0, 9),
    )
    def set_role(self, actor: str, user: str, role: str, number: int) -> None:
        base = self.pick(number)
        if base is None:
            return
        roles = self.roles[base]
        member = self.member(base, user)
        path = f"{BASES}{base}/members/"
        if member:
            response = send(self.clients[actor], "patch", f"{path}{member}/", {"role": role})
        else:
            response = send(self.clients[actor], "post", path, {"user": user, "role": role})
        is_allowed = roles.get(actor) == "owner" and not (role != "owner" and self.is_last_owner(base, user))
        assert (response.status_code < 300) is is_allowed
        if is_allowed:
            roles[user] = role

    @rule(actor=st.sampled_from(USERS), user=st.sampled_from(USERS), number=st.integers(0, 9))
    def remove(self, actor: str, user: str, number: int) -> None:
        base = self.pick(number)
        member = self.member(base, user) if base else None
        if base is None or member is None:
            return
        response = send(self.clients[actor], "delete", f"{BASES}{base}/members/{member}/")
        may = self.roles[base].get(actor) == "owner" or (actor == user and actor in self.roles[base])
        is_allowed = may and not self.is_last_owner(base, user)
        assert (response.status_code == 204) is is_allowed
        if is_allowed:
            del self.roles[base][user]

    @rule(actor=st.sampled_from(USERS), number=st.integers(0, 9))
    def add_document(self, actor: str, number: int) -> None:
        base = self.pick(number)
        if base is None:
            return
        self.number += 1
        word = f"beacon{self.number}"
        body = {"title": word, "text": f"The {WORD} has {word}."}
        response = send(self.clients[actor], "post", f"{BASES}{base}/documents/", body)
        is_allowed = self.roles[base].get(actor) in ("owner", "editor")
        assert (response.status_code == 201) is is_allowed
        if is_allowed:
            self.words[base][response.json()["id"]] = word
            index(response.json()["id"], body["text"])

    @rule(actor=st.sampled_from(USERS), number=st.integers(0, 9), place=st.integers(0, 9))
    def delete_document(self, actor: str, number: int, place: int) -> None:
        base = self.pick(number)
        if base is None or not self.words[base]:
            return
        pk = list(self.words[base])[place % len(self.words[base])]
        response = send(self.clients[actor], "delete", f"{BASES}{base}/documents/{pk}/")
        is_allowed = self.roles[base].get(actor) in ("owner", "editor")
        assert (response.status_code == 204) is is_allowed
        if is_allowed:
            del self.words[base][pk]

    @rule(actor=st.sampled_from(USERS), number=st.integers(0, 9))
    def delete_base(self, actor: str, number: int) -> None:
        base = self.pick(number)
        if base is None:
            return
        response = send(self.clients[actor], "delete", f"{BASES}{base}/")
        is_allowed = self.roles[base].get(actor) == "owner"
        assert (response.status_code == 204) is is_allowed
        if is_allowed:
            self.roles[base] = {}

    @rule(actor=st.sampled_from(USERS), number=st.integers(0, 9))
    def rename_base(self, actor: str, number: int) -> None:
        base = self.pick(number)
        if base is None:
            return
        response = send(self.clients[actor], "patch", f"{BASES}{base}/", {"name": "Ocean"})
        assert (response.status_code == 200) is (self.roles[base].get(actor) == "owner")

    @rule(actor=st.sampled_from(USERS), number=st.integers(0, 9))
    def bind(self, actor: str, number: int) -> None:
        base = self.pick(number)
        if base is None:
            return
        response = send(self.clients[actor], "post", "/api/sessions/", {"knowledge_bases": [base]})
        assert response.status_code == (201 if actor in self.roles[base] else 404)

    @rule(actor=st.sampled_from(USERS), number=st.integers(0, 9), other=st.integers(0, 9))
    def ask_elsewhere(self, actor: str, number: int, other: int) -> None:
        """For documents and members of one base below another one, and for documents as if they were files."""
        base, elsewhere = self.pick(number), self.pick(other)
        if base is None or elsewhere is None or base == elsewhere:
            return
        client, path = self.clients[actor], f"{BASES}{elsewhere}/"
        for pk in list(self.words[base])[:1]:
            reads = [f"{path}documents/{pk}/{part}" for part in ("", "text/", "content/")]
            reads += [f"/api/files/{pk}/{part}" for part in ("", "text/", "content/")]
            assert {client.get(one).status_code for one in reads} == {404}
            changed = send(client, "patch", f"{path}documents/{pk}/", {"title": "Mine"})
            deleted = [send(client, "delete", f"{one}{pk}/") for one in (f"{path}documents/", "/api/files/")]
            assert {one.status_code for one in (changed, *deleted)} <= {403, 404}
            copied = send(client, "post", f"{path}documents/", {"file": pk})
            assert copied.status_code in (403, 404)
        for user in self.roles[base]:
            member = self.member(base, user)
            role = send(client, "patch", f"{path}members/{member}/", {"role": "owner"})
            assert role.status_code in (403, 404)
            assert send(client, "delete", f"{path}members/{member}/").status_code in (403, 404)

    @rule()
    def sweep(self) -> None:
        purge_deleted_bases()
        for base, roles in self.roles.items():
            if not roles:
                self.words[base] = {}
                assert not Document.objects.filter(knowledge_base=base).exists()

    @invariant()
    def everybody_sees_what_their_role_says(self) -> None:
        for user, client in self.clients.items():
            listed = {one["id"]: one for one in client.get(BASES).json()}
            assert set(listed) == {base for base, roles in self.roles.items() if user in roles}
            assert client.get("/api/files/").json()["results"] == []
            self.check_queries(user)
            for base, roles in self.roles.items():
                self.check(client, base, roles.get(user), listed.get(base))

    def check_queries(self, user: str) -> None:
        """By themselves, since views ask for the role as well."""
        own = {base: roles[user] for base, roles in self.roles.items() if user in roles}
        bases, person = KnowledgeBase.objects, self.users[user]
        assert ids(bases.visible_to(person)) == set(own)
        assert ids(bases.readable_by(person)) == {base for base, role in own.items() if role in READING}
        # What a turn with all bases searches: nothing, if there is one that the user may not read.
        expected = set() if "restricted" in own.values() else set(own)
        assert ids(bases.searchable_by(person, [UUID(base) for base in self.roles])) == expected

    def check(self, client: Any, base: str, role: str | None, listed: Any) -> None:
        words = self.words[base]
        reads = role in READING
        assert client.get(f"{BASES}{base}/").status_code == (200 if role else 404)
        shown = client.get(f"{BASES}{base}/members/").status_code
        assert shown == (200 if reads else 403 if role else 404)
        found = client.get(f"{BASES}{base}/search/", {"q": f"{WORD} {' '.join(words.values())}", "limit": 50})
        page = client.get(f"{BASES}{base}/documents/")
        assert (found.status_code, page.status_code) == ((200, 200) if reads else (404, 404))
        if reads:
            assert {one["document_id"] for one in found.json()} == set(words)
            assert {one["id"] for one in page.json()["results"]} == set(words)
        elif listed:
            assert (listed["summary"], listed["documents"], listed["indexing"]) == ("", None, None)
        for pk in list(words)[:2]:
            for path in ("", "text/", "content/"):
                response = client.get(f"{BASES}{base}/documents/{pk}/{path}")
                assert response.status_code == (200 if reads else 404)
                # A download takes a slot of the user until it is read to its end.
                response.getvalue()

    def member(self, base: str, user: str) -> str | None:
        """The id of a membership, as an owner sees it."""
        owner = next((name for name, role in self.roles[base].items() if role == "owner"), None)
        if owner is None:
            return None
        members = self.clients[owner].get(f"{BASES}{base}/members/").json()
        return next((str(one["id"]) for one in members if one["user"] == user), None)

    def is_last_owner(self, base: str, user: str) -> bool:
        owners = [name for name, role in self.roles[base].items() if role == "owner"]
        return owners == [user]


def ids(bases: Iterable[KnowledgeBase]) -> set[str]:
    return {str(base.pk) for base in bases}


def index(pk: str, text: str) -> None:
    held = File.objects.claim(pk)
    assert held is not None
    index_held(held, Extraction(FileKind.TEXT, "text/plain", text))


@pytest.mark.django_db
@pytest.mark.timeout(120)
def test_isolation(settings_of_files: None) -> None:
    check(max_examples=2, stateful_step_count=15)


@pytest.mark.full
@pytest.mark.django_db
@pytest.mark.timeout(600)
def test_isolation_at_length(settings_of_files: None) -> None:
    check(max_examples=12, stateful_step_count=25)


def check(**lengths: int) -> None:
    sync_redis().flushdb()
    # No shrinking: it takes longer than the test may, and the timeout would be reported instead of the failure.
    limits = settings(
        **lengths,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Isolation, settings=limits)


@pytest.fixture
def settings_of_files(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
