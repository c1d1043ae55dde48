"""Reading sessions, branches, runs and packets."""

import json
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import append_now, run_log
from chat.models import CitedDocument, Run, SessionEvent
from chat.models.tool_call import ToolCall
from chat.presenters.messages import MessageAnswer, NodeAnswer
from chat.presenters.runs import RunAnswer
from chat.presenters.sessions import SessionAnswer
from chat.protocol import wire
from chat.protocol.states import Status
from tests import factories
from web.rest.preferences import ModelAnswer
from web.rest.turns import PacketsAnswer


def results(client: APIClient, **query: Any) -> list[str]:
    return [one["title"] for one in client.get("/api/sessions/", query).json()["results"]]


def named(client: APIClient, *titles: str) -> list[str]:
    return [client.post("/api/sessions/", {"title": title}, format="json").json()["id"] for title in titles]


class TestSessions:
    def test_a_new_session_says_everything_about_itself(self, client: APIClient) -> None:
        response = client.post(
            "/api/sessions/", {"title": "Tides", "while_answering": "reject"}, format="json"
        )
        body = response.json()
        assert response.status_code == 201
        assert body["leaf"] == body["root"]
        assert (body["title"], body["while_answering"]) == ("Tides", "reject")
        assert (body["agent"], body["project"], body["knowledge_bases"]) == (None, None, [])
        assert body["created_at"].endswith("Z")

    def test_messages_wait_in_the_queue_by_default(self, client: APIClient) -> None:
        assert client.post("/api/sessions/", {}, format="json").json()["while_answering"] == "enqueue"

    def test_the_list_is_newest_first_and_every_page_is_reached(self, client: APIClient) -> None:
        named(client, *"abcde")
        page = client.get("/api/sessions/", {"limit": 2}).json()
        seen = [one["title"] for one in page["results"]]
        while page["next"]:
            page = client.get(page["next"]).json()
            seen += [one["title"] for one in page["results"]]
        assert seen == list("edcba")
        assert [one["title"] for one in client.get(page["previous"]).json()["results"]] == ["c", "b"]

    def test_search_finds_titles_and_message_texts(self, client: APIClient) -> None:
        tides, _ = named(client, "Tides", "Bread")
        factories.complete_turn(client, tides, "Why does the MOON pull?")
        assert results(client, search="bread") == ["Bread"]
        assert results(client, search="moon") == ["Tides"]
        assert results(client, search="100%") == []

    def test_a_session_is_renamed(self, client: APIClient, session: str) -> None:
        response = client.patch(f"/api/sessions/{session}/", {"title": "New"}, format="json")
        assert (response.status_code, response.json()["title"]) == (200, "New")
        assert results(client) == ["New"]

    def test_other_tabs_hear_of_a_change(self, client: APIClient, session: str) -> None:
        client.patch(f"/api/sessions/{session}/", {"title": "New"}, format="json")
        question = factories.complete_turn(client, session)["user_message"]
        client.post(f"/api/messages/{question}/selection/")
        events = SessionEvent.objects.filter(session=session, kind="session").order_by("n")
        assert [event.payload["title"] for event in events] == ["New", "New"]
        assert events[1].payload["leaf"] == str(factories.current_tip(session).pk)

    def test_an_empty_patch_changes_nothing(self, client: APIClient, session: str) -> None:
        before = client.get(f"/api/sessions/{session}/").json()
        assert client.patch(f"/api/sessions/{session}/", {}, format="json").json() == before


class TestMessages:
    @pytest.fixture
    def long(self, client: APIClient, session: str) -> str:
        for number in range(5):
            factories.complete_turn(client, session, f"q{number}")
        return session

    def test_pages_go_back_from_the_tip(self, client: APIClient, long: str) -> None:
        newest = client.get(f"/api/sessions/{long}/messages/", {"limit": 3}).json()
        assert [one["text"] for one in newest] == ["About q3", "q4", "About q4"]
        assert factories.message_texts(client, long, limit=3, before=newest[0]["id"]) == [
            "q2",
            "About q2",
            "q3",
        ]

    def test_before_the_first_there_is_nothing(self, client: APIClient, long: str) -> None:
        first = client.get(f"/api/sessions/{long}/messages/").json()[0]
        assert factories.message_texts(client, long, before=first["id"]) == []

    def test_another_branch_is_read_by_its_leaf(self, client: APIClient, session: str) -> None:
        one = factories.complete_turn(client, session, "one")
        factories.complete_turn(client, session, "uno", parent=None)
        assert factories.message_texts(client, session, leaf=one["runs"][0]["message"]) == [
            "one",
            "About one",
        ]

    def test_a_new_session_has_no_messages(self, client: APIClient, session: str) -> None:
        assert factories.message_texts(client, session) == []

    def test_fifty_turns_cost_as_many_queries_as_one(self, client: APIClient, session: str) -> None:
        def queries() -> int:
            with CaptureQueriesContext(
                connection,
            ) as captured:
                client.get(f"/api/sessions/{session}/messages/")
            return len(captured)

        factories.complete_turn(client, session)
        few = queries()
        for number in range(49):
            factories.complete_turn(client, session, str(number))
        assert queries() == few <= 9

    def test_a_failed_answer_says_why(self, client: APIClient, session: str) -> None:
        run = factories.send_turn(client, session).json()["runs"][0]["id"]
        claimed = Run.objects.claim(run, owner=1)
        assert claimed
        from chat.models.outcome import RunOutcome
        from chat.runs.completion import commit_end

        error = wire.Error("upstream_timeout", "Too slow.", retryable=True)
        commit_end(run, claimed.attempt, RunOutcome(Status.FAILED, 5, text="Half", error=error))
        answer = client.get(f"/api/sessions/{session}/messages/").json()[-1]
        expected = {"code": "upstream_timeout", "message": "Too slow.", "retryable": True}
        assert (answer["status"], answer["text"], answer["error"]) == ("failed", "Half", expected)
        assert client.get(f"/api/runs/{run}/").json()["error"] == expected

    def test_calls_made_by_a_tool_are_inside_its_call(self, client: APIClient, session: str) -> None:
        run = Run.objects.get(pk=factories.complete_turn(client, session)["runs"][0]["id"])
        outer = ToolCall.objects.create(
            run=run, message=run.message, turn_number=0, tool_call_id="a", name="agent"
        )
        ToolCall.objects.create(
            run=run, parent_tool_call=outer, turn_number=0, tool_call_id="b", name="search"
        )
        (call,) = client.get(f"/api/sessions/{session}/messages/").json()[-1]["tool_calls"]
        assert (call["name"], [one["name"] for one in call["children"]]) == ("agent", ["search"])


def log(run: Run, *entries: Any, first: int = 1) -> None:
    """Append to the run's log what a worker would have emitted: texts, or whole objs."""
    session = str(run.turn.session_id)
    lines = []
    for seq, one in enumerate(entries, first):
        obj = wire.MessageDelta(one) if isinstance(one, str) else one
        lines.append(wire.encode(wire.Packet(session, str(run.pk), run.attempt, seq, wire.Placement(), obj)))
    assert append_now(run_log(session, run.pk), run.attempt, first, lines).outcome == "ok"


class TestLive:
    @pytest.fixture
    def run(self, client: APIClient, session: str) -> Run:
        claimed = Run.objects.claim(factories.send_turn(client, session).json()["runs"][0]["id"], owner=1)
        assert claimed
        return claimed

    def answer(self, client: APIClient, run: Run) -> dict[str, Any]:
        shown: dict[str, Any] = client.get(f"/api/sessions/{run.turn.session_id}/messages/").json()[-1]
        return shown

    def test_a_queued_run_has_shown_nothing(self, client: APIClient, session: str) -> None:
        factories.send_turn(client, session)
        answer = client.get(f"/api/sessions/{session}/messages/").json()[-1]
        assert (answer["status"], answer["text"], answer["cursor"]) == (
            "queued",
            "",
            {"attempt": 0, "seq": 0},
        )

    def test_text_and_the_packets_after_its_cursor_are_the_whole(self, client: APIClient, run: Run) -> None:
        log(run, wire.RunStart("quick"), wire.ReasoningDelta("Hm"), "He", "l")
        answer = self.answer(client, run)
        assert (answer["text"], answer["reasoning"]) == ("Hel", "Hm")
        assert answer["cursor"] == {"attempt": 1, "seq": 4}
        log(run, "lo", wire.Stop("finished"), first=5)
        rest = client.get(f"/api/runs/{run.pk}/packets/", {"after": 4}).json()
        assert [one["seq"] for one in rest["packets"]] == [5, 6]
        assert rest["packets"][0]["obj"] == {"type": "message_delta", "text": "lo"}

    def test_a_snapshot_replaces_what_came_before(self, client: APIClient, run: Run) -> None:
        snapshot = wire.Snapshot(str(run.pk), 1, 0, {"text": "Kept, "})
        append_now(run_log(run.turn.session_id, run.pk), 1, 0, [wire.encode(snapshot)], base=0)
        log(run, "new")
        assert self.answer(client, run)["text"] == "Kept, new"

    def test_calls_that_an_attempt_shows_again_keep_back_no_text(self, client: APIClient, run: Run) -> None:
        call: dict[str, Any] = {"tool_call_id": "c1", "name": "act", "turn_number": 0, "tab_index": 0}
        ToolCall.objects.create(run=run, message=run.message, arguments={}, **call)
        left = {"text": "Kept, ", "tool_calls": [{**call, "status": "running", "response": ""}]}
        snapshot = wire.Snapshot(str(run.pk), 1, 0, left)
        append_now(run_log(run.turn.session_id, run.pk), 1, 0, [wire.encode(snapshot)], base=0)
        log(run, wire.ToolStart("c1", "act"), "new")
        assert self.answer(client, run)["text"] == "Kept, new"

    def test_without_its_log_the_saved_text_is_shown(self, client: APIClient, run: Run) -> None:
        Run.objects.filter(pk=run.pk).update(saved_seq=7)
        type(run.message).objects.filter(pk=run.message_id).update(text="Saved")
        answer = self.answer(client, run)
        assert (answer["text"], answer["cursor"]) == ("Saved", {"attempt": 1, "seq": 7})

    def test_the_text_of_an_earlier_attempt_is_not_mixed_in(self, client: APIClient, run: Run) -> None:
        type(run.message).objects.filter(pk=run.message_id).update(text="Old")
        assert self.answer(client, run)["text"] == ""

    def test_after_the_log_has_expired_packets_are_rebuilt(self, client: APIClient, session: str) -> None:
        run = factories.complete_turn(client, session)["runs"][0]["id"]
        sync_redis().delete(run_log(session, run).meta, run_log(session, run).entries)
        read = client.get(f"/api/runs/{run}/packets/").json()
        assert read["complete"] is True
        assert [one["seq"] for one in read["packets"]] == list(range(1, len(read["packets"]) + 1))
        assert "".join(one["obj"].get("text", "") for one in read["packets"]) == "About Hello"
        assert read["packets"][-1]["obj"]["type"] == "stop"

    def test_who_holds_some_live_packets_gets_one_snapshot_then(
        self, client: APIClient, session: str
    ) -> None:
        run = factories.complete_turn(client, session)["runs"][0]["id"]
        sync_redis().delete(run_log(session, run).meta, run_log(session, run).entries)
        snapshot, stop = client.get(f"/api/runs/{run}/packets/", {"after": 1}).json()["packets"]
        assert (snapshot["type"], snapshot["seq"], snapshot["message"]["text"]) == (
            "snapshot",
            2,
            "About Hello",
        )
        assert (stop["seq"], stop["obj"]["type"]) == (3, "stop")
        assert client.get(f"/api/runs/{run}/packets/", {"after": 3}).json()["packets"] == []


DESCRIBED = {
    ModelAnswer: "/api/models/",
    SessionAnswer: "/api/sessions/{session}/",
    MessageAnswer: "/api/sessions/{session}/messages/",
    NodeAnswer: "/api/sessions/{session}/tree/",
    RunAnswer: "/api/runs/{run}/",
    PacketsAnswer: "/api/runs/{run}/packets/",
}


@pytest.mark.parametrize(
    ("described", "path"), DESCRIBED.items(), ids=lambda one: getattr(one, "__name__", "")
)
def test_answers_are_as_the_schema_describes_them(
    client: APIClient, session: str, described: Any, path: str
) -> None:
    run = factories.complete_turn(client, session)["runs"][0]
    body = json.loads(client.get(path.format(session=session, run=run["id"])).content)
    for one in body if isinstance(body, list) else [body]:
        assert set(one) <= set(described.__struct_fields__)
        msgspec.convert(one, described)  # raises unless required members are there, and all have their types


class TestWhatAnswersRestOn:
    @pytest.fixture
    def answer(self, client: APIClient, session: str) -> str:
        return str(factories.complete_turn(client, session)["runs"][0]["message"])

    def read(self, client: APIClient, session: str) -> dict[str, Any]:
        shown: dict[str, Any] = client.get(f"/api/sessions/{session}/messages/").json()[-1]
        return shown

    def test_cited_documents_are_named_by_number(self, client: APIClient, session: str, answer: str) -> None:
        CitedDocument.objects.create(message_id=answer, number=2, document_id="b", title="Bread")
        CitedDocument.objects.create(
            message_id=answer, number=1, document_id="a", title="Tides", url="https://tides.example"
        )
        assert self.read(client, session)["citations"] == [
            {"number": 1, "document_id": "a", "title": "Tides", "url": "https://tides.example"},
            {"number": 2, "document_id": "b", "title": "Bread"},
        ]

    def test_a_call_that_found_documents_tells_them(
        self, client: APIClient, session: str, answer: str
    ) -> None:
        found = [{"number": 1, "document_id": "a", "title": "Tides", "url": "https://tides.example"}]
        given = {"message_id": answer, "run": Run.objects.get(), "tool_call_id": "c", "name": "web_search"}
        ToolCall.objects.create(turn_number=0, documents=found, **given)
        ToolCall.objects.create(turn_number=1, **given)
        first, second = self.read(client, session)["tool_calls"]
        assert first["documents"] == found
        assert "documents" not in second


def test_models_come_with_what_they_can_do(client: APIClient) -> None:
    first = client.get("/api/models/").json()[0]
    assert first == {
        "name": "quick",
        "context_window": 128_000,
        "supports_vision": False,
        "supports_tools": True,
        "max_output_tokens": 127_999,
        "unsupported_options": [],
        "is_own_default": False,
        "is_default": True,
        "is_demo": False,
    }


def test_staff_edit_the_system_prompt(db: None) -> None:
    staff = factories.api_client(factories.create_user("root", is_staff=True, is_superuser=True))
    default = staff.get("/api/system-prompt/").json()["text"]
    assert "helpful assistant" in default
    assert staff.put("/api/system-prompt/", {"text": ""}, format="json").json() == {"text": ""}
    assert staff.get("/api/system-prompt/").json() == {"text": ""}
