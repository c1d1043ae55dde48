"""Sessions that nobody has named: when a worker is asked for a title, and who may still give one."""

from typing import Any

import pytest
from msgspec import json

from chat import titles
from chat.models import Session
from chat.protocol import TITLE_SESSION
from chat.redis_client import sync_redis
from chat.states import Status
from chat.stream import event_log, read_now
from tests.chat import broker, cast

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def titles_are_on(settings: Any) -> None:
    settings.TITLES = True


@pytest.fixture
def client() -> Any:
    sync_redis().flushdb()
    cast.model("quick", is_default=True)
    cast.model("slow", queue="slow")
    return cast.client_of(cast.user("alice"))


def new_session(client: Any, **fields: Any) -> str:
    return client.post("/api/sessions/", fields, format="json").json()["id"]


def asked(queue: str = "llm") -> list[str]:
    """The runs that sessions shall be named after."""
    return [run for task, run in broker.queued(queue) if task == TITLE_SESSION]


def test_the_first_answer_asks_for_a_title(client: Any) -> None:
    [run] = cast.talk(client, new_session(client))["runs"]
    assert asked() == [run["id"]]


def test_a_session_that_has_a_title_asks_for_none(client: Any) -> None:
    cast.talk(client, new_session(client, title="Tides"))
    assert asked() == []


def test_a_session_is_named_once(client: Any) -> None:
    session = new_session(client)
    cast.talk(client, session)
    asked()
    assert titles.give(session, "Tides")
    cast.talk(client, session, "And now?")
    assert asked() == []


def test_a_request_that_was_lost_is_made_again_after_the_next_answer(client: Any) -> None:
    session = new_session(client)
    cast.talk(client, session)
    asked()
    [run] = cast.talk(client, session, "And now?")["runs"]
    assert asked() == [run["id"]]


@pytest.mark.parametrize("status", [Status.FAILED, Status.STOPPED])
def test_what_is_no_answer_names_nothing(client: Any, status: Status) -> None:
    [run] = cast.send(client, new_session(client)).json()["runs"]
    cast.finish(run["id"], "half a", status)
    assert asked() == []


def test_of_several_answers_the_first_that_succeeded_counts_and_its_workers_are_asked(client: Any) -> None:
    session = new_session(client)
    quick, slow = cast.send(client, session, models=["quick", "slow"]).json()["runs"]
    cast.finish(slow["id"], "An answer")
    assert asked("slow") == [], "the turn goes on"
    cast.finish(quick["id"], "half a", Status.FAILED)
    assert (asked(), asked("slow")) == ([], [slow["id"]])


def test_titles_can_be_switched_off(client: Any, settings: Any) -> None:
    settings.TITLES = False
    cast.talk(client, new_session(client))
    assert asked() == []


def test_a_title_is_told_to_every_tab(client: Any) -> None:
    session = new_session(client)
    assert titles.give(session, "Tides")
    [(_, line)] = read_now(event_log(session)).lines
    told = json.decode(line)
    assert (told["type"], told["n"], told["session"], told["title"]) == ("session", 1, session, "Tides")
    assert client.get(f"/api/sessions/{session}/").json()["title"] == "Tides"


def test_a_title_of_the_owners_is_never_overwritten(client: Any) -> None:
    session = new_session(client)
    client.patch(f"/api/sessions/{session}/", {"title": "Mine"}, format="json")
    assert not titles.give(session, "Tides")
    assert client.get(f"/api/sessions/{session}/").json()["title"] == "Mine"
    assert len(read_now(event_log(session)).lines) == 1, "of the owner's own change alone"


def test_a_session_that_is_gone_is_not_named(client: Any) -> None:
    session = new_session(client)
    Session.objects.all().delete()
    assert not titles.give(session, "Tides")


def test_a_title_leaves_the_session_where_it_is_in_the_list(client: Any) -> None:
    session, newer = new_session(client), new_session(client)
    titles.give(session, "Tides")
    listed = client.get("/api/sessions/").json()["results"]
    assert [one["id"] for one in listed] == [newer, session]
