"""Full-text search of sessions: by title and messages, for their owner only, and by an index."""

import random
from typing import Any

import pytest
from django.db import connection
from django.db.models.expressions import RawSQL
from rest_framework.test import APIClient

from chat.models import ChatMessage, Session
from chat.models.role import Role
from chat.models.sql.session_search import matching_messages, matching_sessions
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
        ("moon " * 20 + "flour", set()),
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


def plan_of(found: RawSQL) -> str:
    with connection.cursor() as cursor:
        # Tables of a test are so small that Postgres would read them to the end.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {found.sql}", found.params)
        return str(cursor.fetchall())


@pytest.mark.parametrize("text", ["moon sea", "小麦粉"])
def test_the_indexes_are_used(client: APIClient, text: str) -> None:
    """Of words if they are rare, of sessions and their messages if not: no table is read to its end."""
    plans = [plan_of(matching_messages(text, "session_id")), plan_of(matching_sessions(1, text))]
    assert "Seq Scan" not in "".join(plans)
    assert text != "moon sea" or "message_by_words" in plans[0]


@pytest.mark.parametrize(("common", "rare"), [("tides w", "moon"), ("潮汐", "小麦")])
def test_common_words_are_asked_of_the_sessions_and_rare_ones_of_the_index(
    client: APIClient, common: str, rare: str
) -> None:
    tides = Session.objects.get(pk=chat(client, "Tides"))
    root = ChatMessage.objects.root_of(tides)
    drafts = [
        ChatMessage.objects.draft(root, role=Role.USER, text=f"The tides, why {n}? 潮汐") for n in range(600)
    ]
    ChatMessage.objects.bulk_create(drafts)
    chat(client, "Bread", "moon, 小麦")
    assert set(search(client, common)) == {"Tides"}
    assert set(search(client, rare)) == {"Bread"}
    assert "SubPlan" in plan_of(matching_sessions(tides.owner_id, common))
    assert "SubPlan" not in plan_of(matching_sessions(tides.owner_id, rare))


# What is written, what is looked for.
SPELLINGS = [
    ("Das Cafe\u0301 in Zu\u0308rich", "Z\u00fcrich"),
    ("Das Caf\u00e9 in Gen\u00e8ve", "Gene\u0300ve"),
    ("\u4fee\u6539youer\u670d\u52a1\u7aef\u7684\u8ba1\u5212", "youer"),
    ("修改youer服务端的计划", "YOUER服务"),
    ("修改youer服务端的计划", "划"),
    ("the of\ufb01ce \ufb02oor", "office"),
    ("the office floor", "of\ufb01ce"),
    ("\uff21\uff30\uff29\u3000\uff56\uff12", "api v2"),
    ("api v2", "\uff21\uff30\uff29\u3000\uff56\uff12"),
    ("ﾃﾞｰﾀﾍﾞｰｽ", "データ"),
    ("データベース", "ﾃﾞｰﾀ"),
    ("Straße", "STRASSE"),
    ("Strasse", "Straße"),
    ("\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3", "\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2"),
    ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"),
    ("API를 서울에서", "서울"),
    ("ภาษาไทยง่าย", "ไทย"),
    ("don\uff07t panic", "don't"),
]


@pytest.mark.parametrize(("written", "asked"), SPELLINGS)
def test_every_spelling_finds_it_in_messages_and_titles(client: APIClient, written: str, asked: str) -> None:
    chat(client, "Question", written)
    chat(client, written)
    chat(client, "Other", "Nothing of the kind, 其他")
    assert set(search(client, asked)) == {"Question", written}
    assert ChatMessage.objects.filter(text=written).count() == 1


def test_the_excerpt_shows_the_text_as_it_is_written(client: APIClient) -> None:
    chat(client, "Office", "word " * 300 + "the of\ufb01ce, third floor " + "word " * 300)
    excerpt = search(client, "office")["Office"]
    assert "the of\ufb01ce, third floor word" in excerpt
    assert len(excerpt) <= 160


def test_an_edited_answer_is_found_by_its_new_words_alone(client: APIClient) -> None:
    session = chat(client, "Edited", "Question")
    answers = ChatMessage.objects.filter(session=session, role="assistant")
    answers.update(text="全粒小麦粉")
    assert set(search(client, "小麦")) == {"Edited"}
    answers.update(text="the of\ufb01ce")
    assert set(search(client, "office")) == {"Edited"}
    assert search(client, "小麦") == {}
    answers.update(text="plain")
    assert search(client, "office") == {}


@pytest.mark.parametrize("range_", [(0x3400, 0x9FFF), (0x20000, 0x2A6D0), (0xAC00, 0xD7A3), (0x100, 0x2FF)])
def test_no_text_has_more_words_than_postgres_takes(client: APIClient, range_: tuple[int, int]) -> None:
    pick = random.Random(0)
    session = Session.objects.get(pk=chat(client, "Long"))
    spaces = " " * (range_[0] in {0x100, 0xAC00})
    text = "".join(chr(pick.randint(*range_)) + pick.choice(["", spaces]) for _ in range(110_000))
    message = ChatMessage.objects.append(ChatMessage.objects.root_of(session), role="user", text=text)
    assert list(search(client, text[1_000:1_100].split(maxsplit=1)[-1][:9])) == ["Long"]
    assert message.text == text
