"""A share shows one branch as it was when shared, to all who have the link, until it is revoked."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from chat.models import ChatMessage, CitedDocument, Run, Session, Share, ToolCall
from chat.models.share import token_of
from tests import factories


@pytest.fixture
def client(db: None) -> APIClient:
    factories.create_model("quick", is_default=True)
    return factories.api_client(factories.create_user("alice"))


@pytest.fixture
def session(client: APIClient) -> str:
    session = client.post("/api/sessions/", {"title": "Tides"}, format="json").json()["id"]
    factories.complete_turn(client, session)
    return str(session)


def share(client: APIClient, session: str, **body: Any) -> dict[str, Any]:
    response = client.post(f"/api/sessions/{session}/shares/", body, format="json")
    assert response.status_code == 201, response.json()
    return dict(response.json())


def visit(made: dict[str, Any]) -> Any:
    """The page of the link, requested without a login."""
    return Client().get(made["url"])


def shown(made: dict[str, Any]) -> dict[str, Any]:
    page = visit(made).content.decode()
    found = re.search(r'<script id="shown" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


def test_the_page_shows_the_branch_as_it_was_when_shared(client: APIClient, session: str) -> None:
    made = share(client, session)
    factories.complete_turn(client, session, "Later")
    assert [one["text"] for one in shown(made)["messages"]] == ["Hello", "About Hello"]
    assert shown(made)["title"] == "Tides"
    [listed] = client.get(f"/api/sessions/{session}/shares/").json()
    assert listed == {**made, "is_current": False}
    leaf = str(Session.objects.get(pk=session).leaf_id)
    updated = client.patch(f"/api/shares/{made['id']}/", {"leaf": leaf}, format="json").json()
    assert (updated["url"], updated["is_current"]) == (made["url"], True)
    assert [one["text"] for one in shown(made)["messages"]][2:] == ["Later", "About Later"]


def test_the_title_is_that_of_when_it_was_shared(client: APIClient, session: str) -> None:
    made = share(client, session)
    client.patch(f"/api/sessions/{session}/", {"title": "Not for the public"}, format="json")
    assert shown(made)["title"] == "Tides"
    assert "Not for the public" not in visit(made).content.decode()
    client.patch(f"/api/shares/{made['id']}/", {"shows_details": True}, format="json")
    assert shown(made)["title"] == "Tides"
    leaf = str(Session.objects.get(pk=session).leaf_id)
    client.patch(f"/api/shares/{made['id']}/", {"leaf": leaf}, format="json")
    assert shown(made)["title"] == "Not for the public", "shared again"


def test_another_branch_is_not_shown(client: APIClient, session: str) -> None:
    first = Session.objects.get(pk=session).leaf_id
    factories.complete_turn(client, session, "Instead", parent=None)
    texts = [
        [one["text"] for one in shown(share(client, session, **leaf))["messages"]]
        for leaf in ({}, {"leaf": str(first)})
    ]
    assert texts == [["Instead", "About Instead"], ["Hello", "About Hello"]]


def test_the_page_has_no_ids_and_no_owner(client: APIClient, session: str) -> None:
    run = Run.objects.get(turn__session=session)
    ChatMessage.objects.filter(pk=run.message_id).update(reasoning="Secretly")
    ToolCall.objects.create(
        run=run, message_id=run.message_id, turn_number=0, tool_call_id="c", name="web_search",
        arguments={"query": "private"}, response="found",
    )  # fmt: skip
    CitedDocument.objects.create(message_id=run.message_id, number=1, document_id="hidden-id", title="One")
    made = share(client, session)
    page = visit(made).content.decode()
    hidden = [
        "alice",
        "Secretly",
        "private",
        "found",
        "hidden-id",
        session,
        str(run.pk),
        str(run.message_id),
        made["id"],
    ]
    assert [word for word in hidden if word in page] == []
    detailed = shown(share(client, session, shows_details=True))["messages"][1]
    assert detailed["reasoning"] == "Secretly"
    assert [(one["name"], one["arguments"]) for one in detailed["tool_calls"]] == [
        ("web_search", {"query": "private"})
    ]


def test_a_revoked_link_answers_as_an_unknown_one(client: APIClient, session: str) -> None:
    made, kept = share(client, session), share(client, session)
    assert visit(made).status_code == 200
    assert client.delete(f"/api/shares/{made['id']}/").status_code == 204
    assert client.delete(f"/api/shares/{made['id']}/").status_code == 404
    gone = visit(made)
    absent = Client().get("/shared/" + "0" * 40 + "/")
    assert (gone.status_code, absent.status_code) == (404, 404)
    assert gone.content == absent.content
    assert {
        name: value
        for name, value in gone.items()
        if "nonce" not in value and name not in ("X-Request-ID", "Expires", "Date")
    } == {
        name: value
        for name, value in absent.items()
        if "nonce" not in value and name not in ("X-Request-ID", "Expires", "Date")
    }
    assert [one["id"] for one in client.get(f"/api/sessions/{session}/shares/").json()] == [kept["id"]]
    client.delete(f"/api/sessions/{session}/")
    assert visit(kept).status_code == 404


def test_the_page_is_not_indexed_cached_or_referred(client: APIClient, session: str) -> None:
    page = visit(share(client, session))
    assert "noindex" in page["X-Robots-Tag"]
    assert page["Referrer-Policy"] == "no-referrer"
    assert "no-store" in page["Cache-Control"]
    assert not page.cookies
    assert "unsafe-inline" not in page["Content-Security-Policy"]


def test_texts_are_escaped(client: APIClient, session: str) -> None:
    ChatMessage.objects.filter(session=session, role="user").update(text="</script><script>alert(1)</script>")
    client.patch(f"/api/sessions/{session}/", {"title": "<b>Tides</b>"}, format="json")
    made = share(client, session)
    page = visit(made).content.decode()
    assert "alert(1)</script>" not in page
    assert "<b>Tides" not in page
    assert shown(made)["messages"][0]["text"] == "</script><script>alert(1)</script>"


def test_the_secret_is_not_in_the_database(client: APIClient, session: str, settings: Any) -> None:
    made = share(client, session)
    row = Share.objects.get(pk=made["id"])
    token = made["url"].split("/")[2]
    assert token == token_of(row.pk)
    assert len(token) * 4 >= 128
    assert token not in str(vars(row))
    # With another SECRET_KEY the link still works, but its token cannot be derived any more.
    settings.SECRET_KEY = "another"
    assert client.get(f"/api/sessions/{session}/shares/").json()[0]["url"] is None
    assert visit(made).status_code == 200


def test_an_answer_in_progress_cannot_be_shared(client: APIClient, session: str) -> None:
    made = share(client, session)
    factories.send_turn(client, session)
    for response in (
        client.post(f"/api/sessions/{session}/shares/", {}, format="json"),
        client.patch(
            f"/api/shares/{made['id']}/",
            {"leaf": str(Session.objects.get(pk=session).leaf_id)},
            format="json",
        ),
    ):
        assert (response.status_code, response.json()["code"]) == (409, "turn_in_progress")


def test_the_number_of_links_is_limited(
    client: APIClient, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("features.sharing.api.MAX_SHARES", 1)
    share(client, session)
    response = client.post(f"/api/sessions/{session}/shares/", {}, format="json")
    assert (response.status_code, response.json()["code"]) == (409, "too_many_shares")


def test_a_question_that_waits_cannot_be_shared_since_it_may_change(client: APIClient, session: str) -> None:
    factories.send_turn(client, session)
    waiting = factories.send_turn(client, session, "And then?").json()["user_message"]
    response = client.post(f"/api/sessions/{session}/shares/", {"leaf": waiting}, format="json")
    assert (response.status_code, response.json()["code"]) == (409, "turn_in_progress")


def test_an_expired_link_answers_as_an_unknown_one_until_it_gets_another_end(
    client: APIClient, session: str
) -> None:
    made = share(client, session, expires_in_days=7)
    assert visit(made).status_code == 200
    endless = share(client, session)
    assert endless["expires_at"] is None
    ends = Share.objects.get(pk=made["id"]).expires_at
    assert ends is not None
    assert timedelta(days=6) < ends - timezone.now() < timedelta(days=8)
    Share.objects.filter(pk=made["id"]).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert visit(made).status_code == 404
    assert Client().get(f"/api{made['url']}").json()["code"] == "share_not_found"
    assert [one["id"] for one in client.get(f"/api/sessions/{session}/shares/").json()] == [
        endless["id"],
        made["id"],
    ]
    # Another change keeps the end; null takes it away.
    for fields, found in (({"shows_details": True}, 404), ({"expires_in_days": None}, 200)):
        client.patch(f"/api/shares/{made['id']}/", fields, format="json")
        assert visit(made).status_code == found
