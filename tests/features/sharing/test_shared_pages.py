"""A shared branch is read in pages: what one read costs does not depend on how long the branch is, and none is left out."""

import json
from typing import Any

import pytest
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import ChatMessage, Run, Session, Share, ToolCall
from chat.models.share import PAGE_BYTES, PAGE_MESSAGES
from chat.models.sql import shares, statements
from chat.protocol.states import Status
from features.sharing.api import create_share
from tests import factories, huge_session

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    caches["shared_pages"].clear()


def execute(statement: str, values: dict[str, Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def shared(*, shows_details: bool = True, **amounts: Any) -> Share:
    """A link to a chat of so many messages and calls."""
    session = Session.objects.start(factories.create_user("alice"))
    huge_session.fill(execute, str(session.pk), **amounts)
    session.refresh_from_db()
    share = create_share(session, None, shows_details=shows_details)
    return Share.objects.select_related("session").get(pk=share.pk)


def read(share: Share, page: int | None = None, **headers: str) -> Any:
    query = "" if page is None else f"?page={page}"
    return Client().get(f"/api/shared/{share.token}/{query}", headers=headers)


def all_pages(share: Share) -> list[dict[str, Any]]:
    pages = [read(share).json()]
    while pages[-1]["next"]:
        pages.append(read(share, pages[-1]["next"]).json())
    return pages


def count_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each statement of chat/models/sql/shares.py returns from now on."""
    counts: list[int] = []
    execute_all = statements.Statement.all

    def counted(statement: Any, **parameters: Any) -> Any:
        rows = execute_all(statement, **parameters)
        counts.append(len(rows))
        return rows

    monkeypatch.setattr(statements.Statement, "all", counted)
    return counts


def test_a_small_share_is_one_page() -> None:
    share = shared(messages=4, calls=2, answers=[2])
    page = read(share).json()
    assert page["next"] is None
    assert len(page["messages"]) == 4
    assert len(page["messages"][1]["tool_calls"]) == 2
    assert "has_more_tool_calls" not in page["messages"][1]
    assert read(share, 2).json()["code"] == "invalid_pagination"
    assert [read(share, wrong).status_code for wrong in (0, 10**30)] == [400, 400]


def test_following_the_pages_shows_every_message_once_in_order() -> None:
    share = shared(messages=3 * PAGE_MESSAGES - 1, calls=0, answers=[])
    pages = all_pages(share)
    assert [len(page["messages"]) for page in pages] == [PAGE_MESSAGES, PAGE_MESSAGES, PAGE_MESSAGES - 1]
    texts = [message["text"].split()[1] for page in pages for message in page["messages"]]
    assert texts == [str(number) for number in range(1, 3 * PAGE_MESSAGES)]


@pytest.mark.parametrize("shows_details", [True, False])
@pytest.mark.parametrize(
    ("calls", "answers"),
    [
        pytest.param(4_000, [2, 200], id="many calls in few answers"),
        pytest.param(40, list(range(2, 201, 2)), id="some calls in many answers"),
    ],
)
def test_a_read_is_bounded_however_many_calls_there_are(
    monkeypatch: pytest.MonkeyPatch, calls: int, answers: list[int], shows_details: bool
) -> None:
    share = shared(messages=200, calls=calls, answers=answers, shows_details=shows_details)
    counts = count_rows(monkeypatch)
    for page in range(1, len(share.read_pages()) + 1):
        counts.clear()
        with CaptureQueriesContext(connection) as queries:
            response = read(share, page)
        assert len(queries) <= 10
        assert sum(counts) <= 4_200
        assert len(response.content) <= 2 * PAGE_BYTES
        for message in response.json()["messages"]:
            assert len(message.get("tool_calls", ())) <= shares.MAX_SHOWN_CALLS
    whole = [message for page in all_pages(share) for message in page["messages"]]
    assert len(whole) == 200
    if shows_details and calls > shares.MAX_SHOWN_CALLS:
        assert [one["role"] for one in whole if one.get("has_more_tool_calls")] == ["assistant"] * 2


def test_a_page_holds_no_more_than_its_bytes_unless_one_message_does() -> None:
    share = shared(messages=6, calls=0, answers=[])
    Share.objects.update(pages=None)
    ChatMessage.objects.filter(role="assistant").update(text="x" * (PAGE_BYTES + 1))
    assert [len(page["messages"]) for page in all_pages(share)] == [1] * 6


def test_calls_inside_others_follow_them_and_long_values_are_shortened() -> None:
    share = shared(messages=2, calls=2, answers=[2])
    first, _ = ToolCall.objects.all()
    inner = ToolCall.objects.create(
        run=first.run, parent_tool_call=first, turn_number=0, tool_call_id="i", name="inner"
    )
    ToolCall.objects.filter(pk=inner.pk).update(
        response="é" * (shares.MAX_CALL_CHARACTERS + 1), arguments={"long": "x" * shares.MAX_CALL_CHARACTERS}
    )
    calls = read(share).json()["messages"][1]["tool_calls"]
    assert [call["name"] for call in calls] == ["web_search", "inner", "web_search"]
    assert calls[1] == {
        "name": "inner",
        "status": "pending",
        "arguments": {},
        "response": "é" * shares.MAX_CALL_CHARACTERS,
        "is_shortened": True,
    }
    assert calls[0] == {
        "name": "web_search",
        "status": "completed",
        "arguments": {"query": "tides"},
        "response": "x",
    }


def test_what_was_read_is_read_from_the_database_once() -> None:
    share = shared(messages=4, calls=2, answers=[2])
    first = read(share).json()
    with CaptureQueriesContext(connection) as queries:
        assert read(share).json() == first
    assert not [query["sql"] for query in queries if "chat_toolcall" in query["sql"]]
    assert not [query["sql"] for query in queries if "chat_chatmessage" in query["sql"]]


@pytest.mark.parametrize("end", ["revoked", "deactivated", "deleted"])
def test_a_link_that_is_closed_is_not_found_at_once_although_its_page_is_cached(end: str) -> None:
    share = shared(messages=4, calls=0, answers=[])
    etag = read(share)["ETag"]
    assert read(share).status_code == 200
    if end == "revoked":
        share.revoke()
    elif end == "deactivated":
        share.session.owner.is_active = False
        share.session.owner.save()
    else:
        Session.objects.all().delete()
    for response in (read(share), read(share, **{"If-None-Match": etag})):
        assert (response.status_code, response.json()["code"]) == (404, "share_not_found")
    assert Client().get(f"/shared/{share.token}/").status_code == 404


def test_details_that_are_hidden_again_are_not_shown_from_the_cache() -> None:
    share = shared(messages=2, calls=1, answers=[2])
    assert "tool_calls" in read(share).json()["messages"][1]
    share.change(shows_details=False)
    assert "tool_calls" not in read(share).json()["messages"][1]


def test_an_answer_that_goes_on_is_shown_as_it_is() -> None:
    """It stays the same message, below a link that exists (decision 0010)."""
    share = shared(messages=2, calls=1, answers=[2])
    assert read(share).json()["messages"][1]["text"].startswith("Message 2")
    answer = ChatMessage.objects.filter(pk=share.leaf_id)
    run = Run.objects.filter(message=share.leaf_id)
    lease = {"owner": 1, "lease_until": timezone.now(), "claimed_at": timezone.now()}
    run.update(status=Status.RUNNING, attempt=2, ended_at=None, announced_at=None, last_seq=None, **lease)
    for text in ("And so", "And so on"):
        answer.update(text=text)
        assert read(share).json()["messages"][1]["text"] == text
    run.update(status=Status.COMPLETED, ended_at=timezone.now(), last_seq=3, owner=None, lease_until=None)
    answer.update(text="And so on.")
    assert read(share).json()["messages"][1]["text"] == "And so on."


def test_an_unchanged_page_is_not_sent_again_and_no_cache_keeps_it() -> None:
    share = shared(messages=2, calls=0, answers=[])
    first = read(share)
    assert first["Cache-Control"] == "no-store"
    again = read(share, **{"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again["Cache-Control"] == "no-store"
    share.change(shows_details=False)
    assert read(share, **{"If-None-Match": first["ETag"]}).status_code == 200


@pytest.mark.parametrize("pages", [None, [["00000000-0000-0000-0000-000000000000", 1]]])
def test_a_link_that_an_older_release_made_or_moved_has_pages(pages: Any) -> None:
    share = shared(messages=4, calls=0, answers=[])
    kept = Share.objects.get().pages
    Share.objects.update(pages=pages)
    assert len(read(share).json()["messages"]) == 4
    assert Share.objects.get().pages == kept


def test_a_link_that_is_moved_has_other_pages() -> None:
    share = shared(messages=2 * PAGE_MESSAGES, calls=0, answers=[])
    assert len(all_pages(share)) == 2
    first = ChatMessage.objects.get(text__startswith="Message 2 ")
    share.change(leaf=first)
    assert [len(page["messages"]) for page in all_pages(share)] == [2]


def test_the_page_contains_what_the_api_answers() -> None:
    share = shared(messages=2 * PAGE_MESSAGES, calls=0, answers=[])
    page = Client().get(f"/shared/{share.token}/").content.decode()
    begin = page.index('<script id="shown" type="application/json">') + len(
        '<script id="shown" type="application/json">'
    )
    assert json.loads(page[begin : page.index("</script>", begin)]) == read(share).json()
    assert f'data-link="{share.token}"' in page


def test_a_link_of_deleted_messages_that_came_back_shows_them_alone() -> None:
    client, session = factories.session_of_alice()
    turns = [factories.complete_turn(client, session, text) for text in ("one", "two")]
    row = Session.objects.get(pk=session)
    share = create_share(row, None, shows_details=False)
    ends = [turn["runs"][0]["message"] for turn in turns]
    Share.objects.filter(pk=share.pk).update(pages=[[end, 2] for end in ends])
    part = client.delete(f"/api/messages/{turns[1]['user_message']}/").json()["part"]
    assert client.delete(f"/api/sessions/{session}/").status_code == 204
    assert client.post(f"/api/trash/{part}/restoration/").status_code == 200
    pages = all_pages(Share.objects.get(pk=share.pk))
    assert [message["text"] for page in pages for message in page["messages"]] == ["two", "About two"]
