"""Sessions without a title of their owner: when a title is requested, and when it is still stored."""

from typing import Any

import pytest
from msgspec import json

from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import event_log, read_now
from chat.models import Session
from chat.protocol.states import Status
from features.titles import generation as titles
from features.titles.turn_part import TITLE_SESSION
from knowledge.models import File
from tests import broker, factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def titles_are_on(settings: Any) -> None:
    settings.TITLES = True


@pytest.fixture
def client() -> Any:
    sync_redis().flushdb()
    factories.create_model("quick", is_default=True)
    factories.create_model("slow", queue="slow")
    return factories.api_client(factories.create_user("alice"))


def new_session(client: Any, **fields: Any) -> str:
    return client.post("/api/sessions/", fields, format="json").json()["id"]


def unanswered(client: Any, session: str, text: str, status: Status) -> None:
    [run] = factories.send_turn(client, session, text).json()["runs"]
    factories.finish_run(run["id"], "half a", status)


def title_of(client: Any, session: str) -> str:
    return client.get(f"/api/sessions/{session}/").json()["title"]


def told_titles(session: str) -> list[str]:
    published = [json.decode(line) for _, line in read_now(event_log(session)).lines]
    return [one["title"] for one in published if one["type"] == "session"]


def asked(queue: str = "llm") -> list[str]:
    """The runs that sessions shall be named after."""
    return [run for task, run in broker.queued(queue) if task == TITLE_SESSION]


def test_the_first_answer_asks_for_a_title(client: Any) -> None:
    [run] = factories.complete_turn(client, new_session(client))["runs"]
    assert asked() == [run["id"]]


def test_a_session_that_has_a_title_asks_for_none(client: Any) -> None:
    factories.complete_turn(client, new_session(client, title="Tides"))
    assert asked() == []


def test_a_session_is_named_once(client: Any) -> None:
    session = new_session(client)
    factories.complete_turn(client, session)
    asked()
    assert titles.set_title(session, "Tides")
    factories.complete_turn(client, session, "And now?")
    assert asked() == []


def test_a_request_that_was_lost_is_made_again_after_the_next_answer(client: Any) -> None:
    session = new_session(client)
    factories.complete_turn(client, session)
    asked()
    [run] = factories.complete_turn(client, session, "And now?")["runs"]
    assert asked() == [run["id"]]


@pytest.mark.parametrize("status", [Status.FAILED, Status.STOPPED])
def test_without_an_answer_the_question_names_the_session_until_there_is_one(
    client: Any, status: Status
) -> None:
    session = new_session(client)
    unanswered(client, session, "Why are there two tides a day,\n and not one?", status)
    assert asked() == []
    assert title_of(client, session) == "Why are there two tides a day, and not…"
    assert told_titles(session) == ["Why are there two tides a day, and not…"]
    unanswered(client, session, "Hello?", status)
    assert title_of(client, session) == "Why are there two tides a day, and not…"
    [run] = factories.complete_turn(client, session, "And now?")["runs"]
    assert asked() == [run["id"]]
    assert titles.set_title(session, "Two tides")
    assert title_of(client, session) == "Two tides"
    assert not titles.set_title(session, "Another")


def test_files_name_the_session_of_a_question_without_a_text(client: Any) -> None:
    session = new_session(client)
    owner = Session.objects.get(pk=session).owner
    files = [
        File.objects.create(owner=owner, name=name, status="ready", text="Two.", token_count=1)
        for name in ("__init__.py", "law.md")
    ]
    [run] = factories.send_turn(client, session, "", files=[str(file.pk) for file in files]).json()["runs"]
    factories.finish_run(run["id"], "half a", Status.FAILED)
    assert title_of(client, session) == "__init__.py, law.md"


def test_a_question_that_was_taken_back_does_not_name_the_session(client: Any) -> None:
    session = new_session(client)
    [first] = factories.send_turn(client, session, "Why two tides?").json()["runs"]
    waiting = factories.send_turn(client, session, "Never mind").json()
    client.post(f"/api/messages/{waiting['user_message']}/withdrawal/", format="json")
    assert title_of(client, session) == "Why two tides?"
    factories.finish_run(first["id"])
    assert asked() == [first["id"]]


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_the_owner_calls_it_stays_whatever_becomes_of_the_first_turn(client: Any, when: str) -> None:
    session = new_session(client)
    for step in ("before", "ends", "after"):
        if step == "ends":
            unanswered(client, session, "Why?", Status.STOPPED)
        elif step == when:
            client.patch(f"/api/sessions/{session}/", {"title": "Mine"}, format="json")
    factories.complete_turn(client, session, "And now?")
    assert asked() == []
    assert not titles.set_title(session, "Tides")
    assert title_of(client, session) == "Mine"


def test_of_several_answers_the_first_that_succeeded_counts_and_its_workers_are_asked(client: Any) -> None:
    session = new_session(client)
    quick, slow = factories.send_turn(client, session, models=["quick", "slow"]).json()["runs"]
    factories.finish_run(slow["id"], "An answer")
    assert asked("slow") == [], "the turn goes on"
    factories.finish_run(quick["id"], "half a", Status.FAILED)
    assert (asked(), asked("slow")) == ([], [slow["id"]])


def test_titles_can_be_switched_off(client: Any, settings: Any) -> None:
    settings.TITLES = False
    session = new_session(client)
    factories.complete_turn(client, session)
    unanswered(client, session, "And now?", Status.STOPPED)
    assert (asked(), title_of(client, session)) == ([], "")


def test_a_title_is_told_to_every_tab(client: Any) -> None:
    session = new_session(client)
    assert titles.set_title(session, "Tides")
    [(_, line)] = read_now(event_log(session)).lines
    published = json.decode(line)
    assert (published["type"], published["n"], published["session"], published["title"]) == (
        "session",
        1,
        session,
        "Tides",
    )
    assert client.get(f"/api/sessions/{session}/").json()["title"] == "Tides"


def test_a_title_of_the_owners_is_never_overwritten(client: Any) -> None:
    session = new_session(client)
    client.patch(f"/api/sessions/{session}/", {"title": "Mine"}, format="json")
    assert not titles.set_title(session, "Tides")
    assert client.get(f"/api/sessions/{session}/").json()["title"] == "Mine"
    assert len(read_now(event_log(session)).lines) == 1, "of the owner's own change alone"


def test_a_session_that_is_gone_is_not_named(client: Any) -> None:
    session = new_session(client)
    Session.objects.all().delete()
    assert not titles.set_title(session, "Tides")


def test_a_title_leaves_the_session_where_it_is_in_the_list(client: Any) -> None:
    session, newer = new_session(client), new_session(client)
    titles.set_title(session, "Tides")
    listed = client.get("/api/sessions/").json()["results"]
    assert [one["id"] for one in listed] == [newer, session]
