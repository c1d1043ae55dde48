"""Files and projects in turns and sessions; the tests create the rows themselves."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.models import ChatMessage, CitedDocument, MessageFile, Run, ToolCall
from knowledge.models import File, Project
from tests import factories


def ready(owner: Any, name: str = "tides.txt", **fields: Any) -> File:
    given = {"status": "ready", "text": "Two tides a day.", "token_count": 5}
    return File.objects.create(owner=owner, name=name, **given | fields)


def picture(owner: Any) -> File:
    return ready(owner, "moon.png", kind="image", text="", token_count=0, width_px=64, height_px=64)


def ids(*files: File) -> list[str]:
    return [str(file.pk) for file in files]


def numbers(started: dict[str, Any]) -> list[int | None]:
    return list(MessageFile.objects.filter(message=started["user_message"]).values_list("number", flat=True))


class TestFilesOfATurn:
    def test_they_come_with_the_message_in_the_order_they_were_named(
        self, client: APIClient, alice: Any, session: str
    ) -> None:
        text, moon, table = ready(alice), picture(alice), ready(alice, "levels.csv", kind="tabular")
        started = factories.complete_turn(client, session, files=ids(table, moon, text))
        question, answer = client.get(f"/api/sessions/{session}/messages/").json()
        assert question["files"] == [
            {"id": str(table.pk), "name": "levels.csv", "kind": "tabular", "token_count": 5},
            {
                "id": str(moon.pk),
                "name": "moon.png",
                "kind": "image",
                "token_count": 4 * 4 + 32,
                "has_thumbnail": False,
            },
            {"id": str(text.pk), "name": "tides.txt", "kind": "text", "token_count": 5},
        ]
        assert answer["files"] == []
        assert numbers(started) == [1, None, 2]

    def test_numbers_go_on_from_the_highest_of_the_branch(
        self, client: APIClient, alice: Any, session: str
    ) -> None:
        file = ready(alice)
        first = factories.complete_turn(client, session, files=ids(file))
        assert numbers(factories.complete_turn(client, session, files=ids(file))) == [2]
        run = Run.objects.get(turn=factories.complete_turn(client, session)["turn"])
        given = {"run": run, "tool_call_id": "c", "name": "web_search", "turn_number": 0}
        outer = ToolCall.objects.create(message=run.message, **given)
        ToolCall.objects.create(parent_tool_call=outer, documents=[{"number": 6}, {"number": 7}], **given)
        assert numbers(factories.complete_turn(client, session, files=ids(file))) == [8]
        answer = Run.objects.get(turn=factories.complete_turn(client, session)["turn"]).message
        CitedDocument.objects.create(message=answer, number=20, document_id="a", title="Tides")
        assert numbers(factories.complete_turn(client, session, files=ids(file, ready(alice)))) == [21, 22]
        # Another branch has separate numbers.
        beside = factories.complete_turn(client, session, parent=first["runs"][0]["message"], files=ids(file))
        assert numbers(beside) == [2]

    @pytest.mark.parametrize(
        ("fields", "status", "code"),
        [
            ({"status": "processing"}, 409, "file_processing"),
            ({"status": "failed", "error_code": "document_corrupt"}, 422, "file_failed"),
        ],
    )
    def test_one_that_cannot_be_read_is_refused(
        self, client: APIClient, alice: Any, session: str, fields: dict[str, str], status: int, code: str
    ) -> None:
        file = ready(alice, "broken.pdf", **fields)
        response = factories.send_turn(client, session, files=ids(ready(alice), file))
        error = response.json()
        assert (response.status_code, error["code"], error["field"]) == (status, code, "files")
        assert error["file"] == str(file.pk)
        assert not ChatMessage.objects.filter(role="user").exists()

    def test_one_that_is_too_large_for_the_smallest_model_is_refused(
        self, client: APIClient, alice: Any, session: str
    ) -> None:
        tiny = factories.create_model("tiny", context_window=4_000, max_output_tokens=1_000)
        limit = tiny.request_tokens
        assert 0 < limit <= 0.95 * 4_000 - 1_000
        fits, large = ready(alice, token_count=limit), ready(alice, "sea.txt", token_count=limit + 1)
        models = ["quick", "tiny"]
        response = factories.send_turn(client, session, files=ids(fits, large), models=models)
        error = response.json()
        assert (response.status_code, error["code"], error["field"]) == (
            413,
            "attachments_too_large",
            "files",
        )
        assert (error["model"], error["file"]) == ("tiny", str(large.pk))
        assert (error["token_count"], error["limit"]) == (limit + 1, limit)
        assert all(part in error["message"] for part in ("sea.txt", "tiny", str(limit), str(limit + 1)))
        assert not ChatMessage.objects.filter(role="user").exists()
        assert factories.send_turn(client, session, files=ids(fits), models=models).status_code == 202

    def test_what_is_too_large_for_one_model_may_be_sent_to_another(
        self, client: APIClient, alice: Any, session: str
    ) -> None:
        tiny = factories.create_model("tiny", context_window=4_000, max_output_tokens=1_000)
        large = ready(alice, token_count=tiny.request_tokens + 1)
        assert factories.send_turn(client, session, files=ids(large)).status_code == 202

    def test_it_is_counted_in_the_encoding_of_each_model(
        self, client: APIClient, alice: Any, session: str
    ) -> None:
        given = {"context_window": 32_000, "max_output_tokens": 1_000}
        factories.create_model("estimated", **given)
        factories.create_model("counted", tokenizer="o200k_base", **given)
        georgian = ready(alice, token_count=60_000, tokens_by_encoding={"o200k_base": 8_000})
        english = ready(alice, token_count=29_400, tokens_by_encoding={"o200k_base": 29_600})
        uncounted = ready(alice, token_count=60_000)
        fits = [client.get(f"/api/files/{pk}/").json()["fits"] for pk in ids(georgian, english, uncounted)]
        assert [(one["estimated"], one["counted"]) for one in fits] == [
            (False, True), (True, False), (False, False)
        ]  # fmt: skip
        refused = factories.send_turn(client, session, files=ids(english), models=["estimated", "counted"])
        error = refused.json()
        assert (refused.status_code, error["model"], error["token_count"]) == (413, "counted", 29_600)
        assert (
            factories.send_turn(client, session, files=ids(georgian), models=["estimated"]).status_code == 413
        )
        assert (
            factories.send_turn(client, session, files=ids(georgian), models=["counted"]).status_code == 202
        )

    def test_a_picture_is_counted_for_the_models_that_see_it(
        self, client: APIClient, alice: Any, session: str
    ) -> None:
        given = {"context_window": 8_000, "max_output_tokens": 1_000}
        factories.create_model("blind", **given)
        factories.create_model("sees", supports_vision=True, **given)
        factories.create_model("sees all", supports_vision=True, context_window=32_000)
        large = ready(alice, "moon.png", kind="image", text="", token_count=0, width_px=4096, height_px=2048)
        body = client.get(f"/api/files/{large.pk}/").json()
        assert body["token_count"] == 128 * 64 + 32
        assert [body["fits"][name] for name in ("blind", "sees", "sees all")] == [True, False, True]
        refused = factories.send_turn(client, session, files=ids(large), models=["sees all", "sees"])
        error = refused.json()
        assert (refused.status_code, error["code"], error["model"]) == (413, "attachments_too_large", "sees")
        assert error["token_count"] == 128 * 64 + 32
        for name in ("blind", "sees all"):
            given = client.post("/api/sessions/", {}, format="json").json()["id"]
            assert factories.send_turn(client, given, files=ids(large), models=[name]).status_code == 202

    def test_one_that_is_refused_interrupts_no_answer(
        self, client: APIClient, alice: Any, session: str
    ) -> None:
        client.patch(f"/api/sessions/{session}/", {"while_answering": "interrupt"}, format="json")
        run = factories.send_turn(client, session).json()["runs"][0]["id"]
        large = ready(alice, token_count=10**6)
        assert factories.send_turn(client, session, files=ids(large)).status_code == 413
        assert Run.objects.get(pk=run).status == "queued"

    def test_a_file_of_another_user_is_not_found(self, client: APIClient, alice: Any, session: str) -> None:
        theirs = ready(factories.create_user("bob"))
        response = factories.send_turn(client, session, files=ids(ready(alice), theirs))
        assert (response.status_code, response.json()["code"]) == (404, "file_not_found")
        assert str(theirs.pk) not in response.content.decode()

    def test_a_file_twice_is_refused(self, client: APIClient, alice: Any, session: str) -> None:
        file = ready(alice)
        error = factories.send_turn(client, session, files=ids(file, file)).json()
        assert (error["code"], error["field"]) == ("invalid_value", "files")

    def test_a_repeat_attaches_nothing_twice(self, client: APIClient, alice: Any, session: str) -> None:
        body = {"files": ids(ready(alice)), "client_message_id": "m1"}
        assert factories.send_turn(client, session, **body).status_code == 202
        assert factories.send_turn(client, session, **body).status_code == 200
        assert MessageFile.objects.count() == 1


class TestProjectsOfSessions:
    def test_a_session_belongs_to_a_project_of_its_owner(self, client: APIClient, alice: Any) -> None:
        project = str(Project.objects.create(owner=alice, name="Tides").pk)
        body = client.post("/api/sessions/", {"project": project}, format="json").json()
        assert body["project"] == project
        changed = client.patch(f"/api/sessions/{body['id']}/", {"project": None}, format="json").json()
        assert changed["project"] is None

    def test_a_project_of_another_user_is_not_found(self, client: APIClient, session: str) -> None:
        theirs = str(Project.objects.create(owner=factories.create_user("bob"), name="Bread").pk)
        response = client.patch(f"/api/sessions/{session}/", {"project": theirs}, format="json")
        assert (response.status_code, response.json()["code"]) == (404, "project_not_found")
