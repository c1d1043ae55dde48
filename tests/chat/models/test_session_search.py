"""Full-text search of sessions: by title and messages, for their owner only, and by an index."""

from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from chat.models import ChatMessage, Session
from chat.models.sql.session_search import _FOUND, _query
from tests import factories


@pytest.fixture
def client(db: None) -> APIClient:
    factories.create_model("quick", is_default=True)
    return factories.api_client(factories.create_user("alice"))


def chat(client: APIClient, title: str, *questions: str) -> str:
    session = client.post("/api/sessions/", {"title": title}, format="json").json()["id"]
    for question in questions:
        factories.complete_turn(client, session, question)
    return str(session)


def search(client: APIClient, text: str) -> dict[str, Any]:
    """Title -> match."""
    results = client.get("/api/sessions/", {"search": text}).json()["results"]
    return {one["title"]: one["match"] for one in results}


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("moon", {"Tides"}),
        ("MOON", {"Tides"}),
        ("moo", {"Tides"}),
        ("tid", {"Tides"}),
        ("moon sea", {"Tides"}),
        ("moon flour", set()),
        ("about", {"Tides", "Bread"}),
        ("state-of-the-art", {"Bread"}),
        ("o'clock", {"Bread"}),
        ("süß", {"Bread"}),
        ("小麦", {"Bread"}),
        ("a & b | !c:* '\\", set()),
        ("!!!", set()),
        ("'", {"Bread"}),
        ("%", set()),
        ("  ", {"Tides", "Bread"}),
    ],
)
def test_words_and_their_beginnings_are_found(client: APIClient, text: str, titles: set[str]) -> None:
    chat(client, "Tides", "The moon pulls the sea")
    chat(client, "Bread", "Flour, state-of-the-art, at five o'clock, süß, 全粒小麦粉")
    if text.strip():
        assert set(search(client, text)) == titles
    else:
        results = client.get("/api/sessions/", {"search": text}).json()["results"]
        assert {one["title"] for one in results} == titles


def test_some_words_around_the_match_are_shown(client: APIClient) -> None:
    chat(client, "Tides", "word " * 300 + "moon " + "word " * 300)
    chat(client, "Moonlight")
    found = search(client, "moon")
    assert "moon" in found["Tides"]
    assert len(found["Tides"]) < 200
    assert found["Moonlight"] is None


@pytest.mark.parametrize("text", ["wheat", "小麦"])
def test_the_first_message_that_matches_is_named_on_whichever_branch(client: APIClient, text: str) -> None:
    session = chat(client, "Wheat", "Bread", "It is wheat, 全粒小麦粉", "wheat 小麦 again")
    factories.complete_turn(client, session, "Rye", parent=None)
    assert "Rye" in factories.message_texts(client, session)
    (found,) = client.get("/api/sessions/", {"search": text}).json()["results"]
    assert ChatMessage.objects.get(pk=found["match_message"]).text == "It is wheat, 全粒小麦粉"


def test_a_title_alone_names_no_message(client: APIClient) -> None:
    chat(client, "Tides")
    (found,) = client.get("/api/sessions/", {"search": "Tides"}).json()["results"]
    assert found["match_message"] is None


def test_others_find_nothing_of_it(client: APIClient) -> None:
    chat(client, "Tides", "The moon pulls the sea")
    assert search(factories.api_client(factories.create_user("mallory")), "moon") == {}


def test_an_answer_is_found_once_it_is_complete(client: APIClient) -> None:
    session = chat(client, "Tides")
    run = factories.send_turn(client, session).json()["runs"][0]["id"]
    ChatMessage.objects.filter(run=run).update(text="Gravity, so far")
    assert search(client, "gravity") == {}
    factories.finish_run(run, "Gravity, in the end")
    assert set(search(client, "gravity")) == {"Tides"}


def test_a_very_long_text_is_stored_and_found_by_its_beginning(client: APIClient) -> None:
    session = Session.objects.get(pk=chat(client, "Long"))
    text = " ".join(f"word{number}" for number in range(200_000))
    ChatMessage.objects.append(ChatMessage.objects.root_of(session), role="user", text=text)
    assert set(search(client, "word777")) == {"Long"}
    assert search(client, "word199999") == {}


def test_the_indexes_are_used(client: APIClient) -> None:
    query = _query("moon sea")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {_FOUND}", [1, query, 1, query])
        plan = str(cursor.fetchall())
    assert "message_by_words" in plan or "message_session_id" in plan
    assert "Seq Scan" not in plan
