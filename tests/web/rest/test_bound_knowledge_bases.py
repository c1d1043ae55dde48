"""knowledge_bases of sessions, agents and turns: who may bind which, what is stored, and what it costs."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from chat.models import Run, Session, Turn
from knowledge.models import KnowledgeBase
from tests import factories


@pytest.fixture
def base(alice: Any) -> KnowledgeBase:
    return KnowledgeBase.objects.start(alice, name="Tides")


@pytest.fixture
def theirs(alice: Any) -> KnowledgeBase:
    """Of bob, who has not invited alice."""
    return KnowledgeBase.objects.start(factories.create_user("bob"), name="Theirs")


def patch(client: APIClient, session: str, *bases: Any) -> Any:
    body = {"knowledge_bases": [str(base) for base in bases]}
    return client.patch(f"/api/sessions/{session}/", body, format="json")


def send(client: APIClient, session: str, *bases: Any, **body: Any) -> Any:
    picked = {"knowledge_bases": [str(base) for base in bases]} if bases else {}
    return factories.send_turn(client, session, **picked, **body)


def run_of(started: Any) -> Run:
    assert started.status_code == 202, started.json()
    return Run.objects.select_related("turn").get(pk=started.json()["runs"][0]["id"])


def assert_not_found(answer: Any) -> None:
    assert answer.status_code == 404, answer.json()
    assert (answer.json()["code"], answer.json()["field"]) == ("knowledge_base_not_found", "knowledge_bases")


def test_a_session_keeps_the_bases_that_its_owner_is_a_member_of(
    client: APIClient, session: str, base: KnowledgeBase, alice: Any, theirs: KnowledgeBase
) -> None:
    theirs.members.create(user=alice, role="restricted")
    assert patch(client, session, theirs.pk, base.pk, theirs.pk).json()["knowledge_bases"] == [
        str(theirs.pk),
        str(base.pk),
    ]
    event = Session.objects.get(pk=session).events.latest("n")
    assert (event.kind, event.payload["knowledge_bases"]) == ("session", [str(theirs.pk), str(base.pk)])
    assert patch(client, session).json()["knowledge_bases"] == []


@pytest.mark.parametrize("is_unknown", [True, False], ids=["unknown", "foreign"])
def test_a_base_of_others_is_not_found(
    client: APIClient, session: str, base: KnowledgeBase, theirs: KnowledgeBase, is_unknown: bool
) -> None:
    other = uuid4() if is_unknown else theirs.pk
    assert_not_found(patch(client, session, base.pk, other))
    assert_not_found(send(client, session, base.pk, other))
    created = {"knowledge_bases": [str(other)]}
    assert_not_found(client.post("/api/sessions/", created, format="json"))
    assert_not_found(client.post("/api/agents/", created | {"name": "A", "prompt": ""}, format="json"))
    assert Session.objects.get(pk=session).settings.knowledge_bases == []
    assert not Turn.objects.filter(session=session).exists()


def test_what_is_stored_may_stay_after_it_was_deleted(
    client: APIClient, session: str, base: KnowledgeBase, alice: Any
) -> None:
    kept = base.pk
    body = {"name": "A", "prompt": "", "knowledge_bases": [str(kept)]}
    agent = client.post("/api/agents/", body, format="json").json()["id"]
    patch(client, session, kept)
    base.delete()
    new = KnowledgeBase.objects.start(alice, name="New")
    assert patch(client, session, kept, new.pk).status_code == 200
    assert client.put(f"/api/agents/{agent}/", body, format="json").json()["knowledge_bases"] == [str(kept)]
    assert_not_found(send(client, session, kept))
    assert run_of(send(client, session)).knowledge_bases == [new.pk]


@pytest.mark.parametrize(
    ("sent", "code"),
    [("no list", "invalid_type"), (["no id"], "invalid_id"), ([str(uuid4())] * 21, "invalid_value")],
)
def test_what_is_no_list_of_ids_is_refused(client: APIClient, session: str, sent: Any, code: str) -> None:
    for answer in (
        client.patch(f"/api/sessions/{session}/", {"knowledge_bases": sent}, format="json"),
        factories.send_turn(client, session, knowledge_bases=sent),
    ):
        assert answer.status_code == 400
        assert answer.json()["code"] == code


def test_a_pick_belongs_to_its_question(client: APIClient, session: str, base: KnowledgeBase) -> None:
    started = send(client, session, base.pk)
    run = run_of(started)
    assert run.turn.knowledge_bases == [base.pk]
    assert (run.knowledge_bases, run.are_bases_picked, run.knowledge_access) == ([base.pk], True, "full")
    factories.finish_run(str(run.pk))
    question, answer = client.get(f"/api/sessions/{session}/messages/").json()
    assert question["knowledge_bases"] == [str(base.pk)]
    assert "knowledge_bases" not in answer
    again = client.post(f"/api/messages/{question['id']}/regenerations/", {}, format="json")
    assert (run_of(again).knowledge_bases, run_of(again).are_bases_picked) == ([base.pk], True)
    assert "Tides" in run_of(again).dynamic_context
    factories.finish_run(str(run_of(again).pk))
    assert "earlier_knowledge_bases" not in question


def ended(started: Any) -> Run:
    run = run_of(started)
    factories.finish_run(str(run.pk))
    return run


def questions(client: APIClient, session: str) -> list[Any]:
    return client.get(f"/api/sessions/{session}/messages/").json()[::2]


def test_a_follow_up_searches_again_what_was_picked_and_is_not_bound_to_it(
    client: APIClient, session: str, base: KnowledgeBase, alice: Any
) -> None:
    bound, other = (KnowledgeBase.objects.start(alice, name=name) for name in ("Bound", "Other"))
    patch(client, session, bound.pk)
    for pick in (base.pk, other.pk):
        ended(send(client, session, pick))
    for _ in range(2):
        run = ended(send(client, session))
        assert run.knowledge_bases == [bound.pk, other.pk, base.pk]
        assert (run.are_bases_picked, run.turn.knowledge_bases) == (False, None)
        assert run.dynamic_context.index("Bound") < run.dynamic_context.index("Other")
    last = questions(client, session)[-1]
    assert last["earlier_knowledge_bases"] == [str(other.pk), str(base.pk)]
    assert "knowledge_bases" not in last
    again = client.post(f"/api/messages/{last['id']}/regenerations/", {}, format="json")
    assert ended(again).knowledge_bases == [bound.pk, other.pk, base.pk]
    picked = ended(send(client, session, base.pk))
    assert (picked.knowledge_bases, picked.are_bases_picked) == ([base.pk], True)


def test_only_questions_of_the_branch_count(client: APIClient, session: str, base: KnowledgeBase) -> None:
    first = send(client, session)
    answer = first.json()["runs"][0]["message"]
    ended(first)
    ended(send(client, session, base.pk))
    assert ended(send(client, session)).knowledge_bases == [base.pk]
    assert ended(send(client, session, parent=answer)).knowledge_bases == []
    assert ended(send(client, session, parent=None)).knowledge_bases == []
    assert "earlier_knowledge_bases" not in questions(client, session)[-1]


def test_what_was_picked_earlier_and_left_since_is_not_mentioned(
    client: APIClient, session: str, theirs: KnowledgeBase, base: KnowledgeBase, alice: Any
) -> None:
    member = theirs.members.create(user=alice, role="restricted")
    assert ended(send(client, session, theirs.pk, base.pk)).is_restricted
    assert ended(send(client, session)).is_restricted
    member.delete()
    run = ended(send(client, session))
    assert (run.knowledge_bases, run.is_restricted) == ([base.pk], False)
    assert str(theirs.pk) not in run.dynamic_context


def test_a_fork_searches_them_again_too(client: APIClient, session: str, base: KnowledgeBase) -> None:
    started = send(client, session, base.pk)
    ended(started)
    answer = started.json()["runs"][0]["message"]
    fork = client.post(f"/api/sessions/{session}/fork/", {"message": answer}, format="json").json()["id"]
    assert ended(send(client, fork)).knowledge_bases == [base.pk]


@pytest.mark.parametrize("empty", [[], None])
def test_an_empty_pick_is_none(client: APIClient, session: str, base: KnowledgeBase, empty: Any) -> None:
    patch(client, session, base.pk)
    run = run_of(factories.send_turn(client, session, knowledge_bases=empty))
    assert (run.knowledge_bases, run.are_bases_picked, run.turn.knowledge_bases) == ([base.pk], False, None)


def test_a_repeated_request_must_pick_the_same(client: APIClient, session: str, base: KnowledgeBase) -> None:
    body = {"client_message_id": "one", "text": "Hello"}
    assert send(client, session, base.pk, **body).status_code == 202
    assert send(client, session, base.pk, **body).status_code == 200
    assert send(client, session, **body).json()["code"] == "idempotency_mismatch"


def test_a_role_that_may_not_read_restricts_the_run(
    client: APIClient, session: str, base: KnowledgeBase, theirs: KnowledgeBase, alice: Any
) -> None:
    theirs.members.create(user=alice, role="restricted")
    patch(client, session, base.pk, theirs.pk)
    assert run_of(send(client, session)).is_restricted
    factories.finish_run(str(Run.objects.get().pk))
    assert not run_of(send(client, session, base.pk)).is_restricted, "the other base is not of that turn"


def test_a_regeneration_decides_anew(
    client: APIClient, session: str, theirs: KnowledgeBase, alice: Any
) -> None:
    member = theirs.members.create(user=alice, role="reader")
    started = send(client, session, theirs.pk)
    assert run_of(started).knowledge_access == "full"
    factories.finish_run(str(run_of(started).pk))
    theirs.members.filter(pk=member.pk).update(role="restricted")
    url = f"/api/messages/{started.json()['user_message']}/regenerations/"
    again = run_of(client.post(url, {}, format="json"))
    assert (again.knowledge_access, again.is_restricted) == ("restricted", True)
    factories.finish_run(str(again.pk))
    member.delete()
    last = run_of(client.post(url, {}, format="json"))
    assert (last.knowledge_bases, last.are_bases_picked, last.is_restricted) == ([], True, False)
    assert f"Unknown (id {theirs.pk})" in last.dynamic_context


def queries(client: APIClient, session: str, **body: Any) -> list[str]:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        run = run_of(factories.send_turn(client, session, **body))
    factories.finish_run(str(run.pk))
    return [one["sql"] for one in captured.captured_queries]


def test_bases_cost_a_send_one_query_and_none_cost_none(
    client: APIClient, session: str, base: KnowledgeBase
) -> None:
    queries(client, session)  # what is cached by then is not counted
    without = queries(client, session)
    assert not any("knowledge_knowledgebase" in one for one in without)
    patch(client, session, base.pk)
    bound = queries(client, session)
    assert len(bound) == len(without) + 1
    assert len(queries(client, session, knowledge_bases=[str(base.pk)])) == len(bound)
