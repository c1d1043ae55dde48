"""Projects and files in turns: what each model of a turn is shown, what it may search and read. From recorded requests."""

import json
from typing import Any

import pytest
from django.core.files.base import ContentFile

from chat.models import ModelConfig, Run, SystemPrompt
from chat.prompts import dynamic_context
from chat.transcript.tokens import count_tokens
from knowledge.models import File, Project
from llm_worker.loading.project import NOT_SHOWN
from tests import factories
from tests.llm_worker.outcomes import ended

BASE = "Help people."
# Beside these, a history window of some thousand tokens is left.
SMALL = {"context_window": 8_000, "max_output_tokens": 1_000}


@pytest.fixture
def alice(transactional_db: None, settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(dynamic_context, "_PROVIDERS", {})
    SystemPrompt.edit(BASE)
    return factories.create_user("alice")


@pytest.fixture
def client(alice: Any, upstream: Any) -> Any:
    factories.create_model("large", base_url=upstream.base_url, is_default=True)
    factories.create_model("small", base_url=upstream.base_url, **SMALL)
    return factories.api_client(alice)


@pytest.fixture
def talk(client: Any, deliver: Any, upstream: Any) -> Any:
    """Alice sends a message and every run is delivered; returns the runs, ended."""

    def talk(session: str, text: str, **body: Any) -> list[Run]:
        upstream.reply({"text": f"About {text}"}, contains=text)
        started = factories.send_turn(client, session, text, **body)
        assert started.status_code == 202, started.json()
        runs = [Run.objects.get(pk=one["id"]) for one in started.json()["runs"]]
        for run in runs:
            deliver(run).result(60)
        return runs

    return talk


def file_of(owner: Any, name: str, text: str, tokens: int = 5, **fields: Any) -> str:
    given = {"status": "ready", "token_count": tokens, "size_bytes": len(text)}
    return str(File.objects.create(owner=owner, name=name, text=text, **given | fields).pk)


def session_in(client: Any, owner: Any, *texts: tuple[str, str, int], **fields: Any) -> tuple[str, Project]:
    project = Project.objects.create(owner=owner, name="Tides", **fields)
    for name, text, tokens in texts:
        file_of(owner, name, text, tokens, project=project)
    body = {"project": str(project.pk)}
    return client.post("/api/sessions/", body, format="json").json()["id"], project


def seen(request: Any) -> list[str]:
    """The texts in order, dates left out."""
    return [(message["content"] or "").partition("\n\n<sent_at>")[0] for message in request.messages]


def tools_of(request: Any) -> list[str]:
    return [tool["function"]["name"] for tool in request.body.get("tools", ())]


def requests_of(upstream: Any, model: str) -> list[Any]:
    return [one for one in upstream.requests if one.body["model"] == model]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"call": {"name": name, "arguments": arguments}}


def response(request: Any) -> str:
    """Of the last tool call."""
    return str([message for message in request.messages if message["role"] == "tool"][-1]["content"])


def found(request: Any) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = json.loads(response(request))["documents"]
    return documents


LEVELS = ("levels.txt", "Low water stands at two metres.", 4_500)


class TestTheFitOfAProject:
    def test_one_model_includes_it_and_the_other_searches(
        self, client: Any, alice: Any, talk: Any, upstream: Any
    ) -> None:
        session, _ = session_in(client, alice, LEVELS, instructions="Name the Moon.")
        upstream.reply(call("search_project", query="low water"), model="small", times=1)
        for run in talk(session, "One", models=["large", "small"]):
            ended(run, "completed")
        [inlined] = requests_of(upstream, "large")
        first, second = requests_of(upstream, "small")
        assert [text.partition("\n")[0][:30] for text in seen(inlined)[1:]] == [
            "Name the Moon.",
            "Here are some documents provid",
            "One",
        ]
        assert "two metres" in seen(inlined)[2]
        assert tools_of(inlined) == []
        assert seen(first)[1:] == ["Name the Moon.", "One"]
        assert tools_of(first) == ["read_file", "search_project"]
        assert "## search_project" in seen(first)[0]
        [document] = found(second)
        assert list(document) == ["document", "title", "metadata", "contents"]
        assert (document["document"], document["title"]) == (1, "levels.txt")
        assert document["contents"] == "Low water stands at two metres."

    def test_what_was_found_is_cited_and_read_from_there(
        self, client: Any, alice: Any, talk: Any, upstream: Any
    ) -> None:
        text = "Boats. " * 900 + "Spring tides follow the new moon. " + "Sand. " * 900
        session, _ = session_in(client, alice, ("sea.txt", text, 50_000), ("bread.txt", "Bake it.", 50_000))
        ModelConfig.objects.filter(name="large").update(context_window=64_000)
        upstream.reply(call("search_project", query="spring tides"), times=1, after_tools=0)
        upstream.reply(call("read_file", file="?", start=0), times=1, after_tools=1)
        upstream.reply({"text": "They follow it [1]."}, after_tools=2)
        [run] = talk(session, "One")
        ended(run, "completed", text="They follow it [1].")
        cited = client.get(f"/api/sessions/{session}/messages/").json()[1]["citations"]
        assert [(one["number"], one["title"]) for one in cited] == [(1, "sea.txt")]
        assert "url" not in cited[0]
        best = found(upstream.requests[1])[0]
        assert text[int(best["metadata"]["start"]) :].startswith(best["contents"])
        assert File.objects.filter(pk=best["metadata"]["file"], name="sea.txt").exists()
        assert response(upstream.requests[2]).startswith("There is no such file in this chat.")

    def test_its_texts_are_counted_in_the_encoding_of_the_model(
        self, client: Any, alice: Any, talk: Any, upstream: Any
    ) -> None:
        text = "საქართველო არის ქვეყანა. " * 1_000
        counts = {
            "token_count": count_tokens(text),
            "tokens_by_encoding": {"o200k_base": count_tokens(text, "o200k_base")},
        }
        session, project = session_in(client, alice)
        File.objects.create(owner=alice, name="a.txt", text=text, status="ready", project=project, **counts)
        ModelConfig.objects.update(context_window=20_000, max_output_tokens=1_000)
        ModelConfig.objects.filter(name="small").update(tokenizer="o200k_base")
        for run in talk(session, "One", models=["large", "small"]):
            ended(run, "completed")
        [searches], [reads] = (requests_of(upstream, name) for name in ("large", "small"))
        assert "search_project" in tools_of(searches)
        assert text.strip() in seen(reads)[1]
        assert tools_of(reads) == []

    @pytest.mark.parametrize(("more", "is_whole"), [(-1, True), (0, False)])
    def test_exactly_six_tenths_of_the_history_window_do_not_fit(
        self, client: Any, alice: Any, talk: Any, upstream: Any, more: int, is_whole: bool
    ) -> None:
        from llm_worker.loading.turn_context import TurnContext

        session, project = session_in(client, alice)
        [run] = talk(session, "One")
        # The project is empty: nothing but the prompts stands beside the history.
        config = ModelConfig.objects.get(name="large")
        for window in range(10_000, 10_020):
            config.context_window = window
            free = TurnContext.of_run(run, config).history_window
            if free % 10 == 0:
                break
        config.save()
        file_of(alice, "levels.txt", "Low.", free * 6 // 10 + more, project=project)
        talk(session, "Two")
        assert any("levels.txt" in text for text in seen(upstream.requests[-1])) is is_whole
        assert ("search_project" in tools_of(upstream.requests[-1])) is not is_whole

    def test_files_that_are_not_ready_do_not_count(
        self, client: Any, alice: Any, talk: Any, upstream: Any
    ) -> None:
        session, project = session_in(client, alice)
        file_of(alice, "later.txt", "", 10**6, project=project, status="processing")
        talk(session, "One")
        [note, question] = seen(upstream.requests[-1])[1:]
        assert (question, tools_of(upstream.requests[-1])) == ("One", [])
        assert note.endswith("not readable yet: later.txt.")

    def test_a_model_without_tools_is_told_that_it_is_shown_nothing(
        self, client: Any, alice: Any, talk: Any, upstream: Any
    ) -> None:
        ModelConfig.objects.update(supports_tools=False)
        session, _ = session_in(client, alice, LEVELS, instructions="Name the Moon.")
        [run] = talk(session, "One", models=["small"])
        ended(run, "completed")
        assert seen(upstream.requests[-1])[1:] == ["Name the Moon.", NOT_SHOWN, "One"]
        assert tools_of(upstream.requests[-1]) == []
        assert "Citations" not in seen(upstream.requests[-1])[0]
        talk(session, "Two", models=["large"])
        assert NOT_SHOWN not in seen(upstream.requests[-1]), "the next model has room for it"


class TestTheResearchAgentInAProject:
    ASKED = "Where does low water stand?"

    def research(self, upstream: Any) -> None:
        upstream.reply(call("research_agent", question=self.ASKED), times=1, after_tools=0, contains="One")
        upstream.reply(call("search_project", query="low water"), times=1, after_tools=0, contains=self.ASKED)
        upstream.reply({"text": "At two metres [1]."}, times=1, after_tools=1, contains=self.ASKED)
        upstream.reply({"text": "It stands at two metres [1]."}, times=1, after_tools=1, contains="One")

    def test_it_searches_a_project_that_is_left_out_and_its_passages_are_cited(
        self, client: Any, alice: Any, talk: Any, upstream: Any
    ) -> None:
        session, _ = session_in(client, alice, ("sand.txt", "Sand. " * 40, 4_500), LEVELS)
        client.patch(f"/api/sessions/{session}/", {"tools": ["research_agent"]}, format="json")
        self.research(upstream)
        [run] = talk(session, "One", models=["small"])
        ended(run, "completed", text="It stands at two metres [1].")
        outer, inner, reporting, last = upstream.requests
        assert tools_of(outer) == ["read_file", "research_agent", "search_project"]
        assert "It can search the files of this chat's project as well." in seen(outer)[0]
        assert [text.partition("\n")[0] for text in seen(inner)][1:] == [self.ASKED]
        assert tools_of(inner) == ["current_time", "open_url", "read_file", "search_project"]
        assert "## search_project" in seen(inner)[0]
        [document] = found(reporting)
        assert (document["document"], document["title"]) == (1, "levels.txt")
        assert response(last) == "At two metres [1]."
        cited = client.get(f"/api/sessions/{session}/messages/").json()[1]["citations"]
        assert [(one["number"], one["title"]) for one in cited] == [(1, "levels.txt")]

    def test_each_passage_of_a_file_is_cited_by_its_own_number_and_says_where_it_is(
        self, client: Any, alice: Any, talk: Any, upstream: Any
    ) -> None:
        text = "\n\f\n".join(["Low water. " * 60, "🌊 High water. " * 60, "Boats lie at low water mark."])
        session, project = session_in(client, alice, ("tides.pdf", text, 4_500))
        upstream.reply(call("search_project", query="low water"), times=1)
        upstream.reply(call("search_project", query="low water boats"), times=1)
        upstream.reply({"text": "Boats [2], and water [1]."}, times=1)
        for run in talk(session, "One", models=["small"]):
            ended(run, "completed", text="Boats [2], and water [1].")
        answer = client.get(f"/api/sessions/{session}/messages/").json()[1]
        assert [one["number"] for one in answer["citations"]] == [1, 2]
        first, again = ({one["number"]: one for one in each["documents"]} for each in answer["tool_calls"])
        stored = File.objects.get(project=project).text
        for documents in (first, again):
            for document in documents.values():
                start, length = document["passage"]["start"], document["passage"]["length"]
                assert " ".join(stored[start : start + length].split()).startswith(document["snippet"])
                assert "\f" not in stored[start : start + length]
        assert len(first) == len({one["passage"]["start"] for one in first.values()}) == 3
        assert {number: one["passage"] for number, one in again.items()} == {
            number: one["passage"] for number, one in first.items()
        }

    def test_a_passage_keeps_its_number_in_the_report_and_in_the_answer(
        self, client: Any, alice: Any, talk: Any, upstream: Any
    ) -> None:
        session, _ = session_in(client, alice, ("boats.txt", "Boats lie at low water mark.", 4_500), LEVELS)
        client.patch(f"/api/sessions/{session}/", {"tools": ["research_agent"]}, format="json")
        upstream.reply(call("search_project", query="boats"), times=1, after_tools=0, contains="One")
        upstream.reply(call("research_agent", question=self.ASKED), times=1, after_tools=1, contains="One")
        upstream.reply(
            call("search_project", query="stands two metres"), times=1, after_tools=0, contains=self.ASKED
        )
        upstream.reply({"text": "At two metres [2]."}, times=1, after_tools=1, contains=self.ASKED)
        upstream.reply({"text": "Boats [1] at two metres [2]."}, times=1, after_tools=2, contains="One")
        [run] = talk(session, "One", models=["small"])
        ended(run, "completed", text="Boats [1] at two metres [2].")
        cited = client.get(f"/api/sessions/{session}/messages/").json()[1]["citations"]
        assert [(one["number"], one["title"]) for one in cited] == [(1, "boats.txt"), (2, "levels.txt")]

    def test_where_the_project_is_shown_it_searches_nothing(
        self, client: Any, alice: Any, talk: Any, upstream: Any
    ) -> None:
        session, _ = session_in(client, alice, LEVELS)
        client.patch(f"/api/sessions/{session}/", {"tools": ["research_agent"]}, format="json")
        upstream.reply(call("research_agent", question=self.ASKED), times=1, after_tools=0, contains="One")
        upstream.reply({"text": "I do not know."}, times=1, after_tools=0, contains=self.ASKED)
        [run] = talk(session, "One", models=["large"])
        ended(run, "completed")
        assert tools_of(upstream.requests[0]) == ["research_agent"]
        assert tools_of(upstream.requests[1]) == ["current_time", "open_url"]


class TestFilesThatAreLeftOut:
    def long_file(self, alice: Any) -> str:
        text = "".join(f"Line {number} of the tide table.\n" for number in range(400))
        return file_of(alice, "table.txt", text, 4_000)

    def test_they_are_listed_right_above_the_newest_files_and_read(
        self, client: Any, alice: Any, talk: Any, upstream: Any
    ) -> None:
        session = client.post("/api/sessions/", {}, format="json").json()["id"]
        table = self.long_file(alice)
        client.patch(f"/api/sessions/{session}/", {"models": ["small"]}, format="json")
        [run] = talk(session, "One", files=[table])
        ended(run, "completed")
        assert tools_of(upstream.requests[-1]) == []
        new = file_of(alice, "new.txt", "Low. " * 300, 2_500)
        upstream.reply(call("read_file", file=table, start=29, length=29), times=1)
        [run] = talk(session, "Two", files=[new], additional_context="It rains.")
        ended(run, "completed")
        first, second = upstream.requests[-2:]
        *_, dynamic, notice, attached, question = seen(first)
        assert "It rains." in dynamic
        assert notice.endswith(f"- table.txt (id {table}, {File.objects.get(pk=table).size_bytes} bytes)")
        assert "new.txt" in attached
        assert question == "Two"
        assert not any('"table.txt"' in text for text in seen(first))
        assert tools_of(first) == ["read_file"]
        [document] = found(second)
        text = File.objects.get(pk=table).text
        assert (
            document
            == {
                "document": 1,  # as the file has always been
                "title": "table.txt",
                "metadata": {"file": table, "start": "29", "end": "58", "total": str(len(text))},
                "contents": text[29:58],
            }
        )
        assert second.messages[: len(first.messages)] == first.messages

    def test_once_read_they_can_be_read_again(
        self, client: Any, alice: Any, talk: Any, upstream: Any
    ) -> None:
        self.test_they_are_listed_right_above_the_newest_files_and_read(client, alice, talk, upstream)
        session = client.get("/api/sessions/").json()["results"][0]["id"]
        talk(session, "Three")
        assert tools_of(upstream.requests[-1]) == ["read_file"]

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"file": "theirs"}, "There is no such file in this chat."),
            ({"file": "unattached"}, "There is no such file in this chat."),
            ({"file": "../../etc/passwd"}, "There is no such file in this chat. Give the id of one."),
            ({"start": 10**6}, "none begins at 1000000"),
            ({"start": 10**30}, "none begins at"),
            ({"start": -1}, "did not match the schema"),
            ({"length": 0}, "did not match the schema"),
        ],
    )
    def test_a_wrong_range_or_file_gives_no_text_and_says_why(
        self, client: Any, alice: Any, talk: Any, upstream: Any, change: dict[str, Any], says: str
    ) -> None:
        others = {
            "theirs": file_of(factories.create_user("bob"), "bread.txt", "Secret bread."),
            "unattached": file_of(alice, "diary.txt", "Secret diary."),
        }
        session = client.post("/api/sessions/", {}, format="json").json()["id"]
        client.patch(f"/api/sessions/{session}/", {"models": ["small"]}, format="json")
        table = self.long_file(alice)
        talk(session, "One", files=[table])
        asked = {"file": table, "start": 0, "length": 100} | change
        asked["file"] = others.get(asked["file"], asked["file"])
        upstream.reply(call("read_file", **asked), times=1)
        [run] = talk(session, "Two", files=[file_of(alice, "new.txt", "Low. " * 300, 2_500)])
        ended(run, "completed")
        assert says in response(upstream.requests[-1])
        assert "Secret" not in str(upstream.requests[-1].body)
        assert '"contents"' not in response(upstream.requests[-1])

    @pytest.mark.parametrize("text", ["Low water at six.", ""])
    def test_a_file_that_is_extracted_again_has_its_text_until_the_new_one_is_there(
        self, client: Any, alice: Any, talk: Any, upstream: Any, text: str
    ) -> None:
        session = client.post("/api/sessions/", {"models": ["small"]}, format="json").json()["id"]
        table = self.long_file(alice)
        talk(session, "One", files=[table])
        File.objects.filter(pk=table).update(status="processing", text=text)
        upstream.reply(call("read_file", file=table, start=0, length=9), times=1)
        [run] = talk(session, "Two", files=[file_of(alice, "new.txt", "Low. " * 300, 2_500)])
        ended(run, "completed")
        if text:
            assert [document["contents"] for document in found(upstream.requests[-1])] == [text[:9]]
        else:
            assert "still being extracted" in response(upstream.requests[-1])

    def test_a_question_that_needs_the_room_of_the_tool_is_still_answered(
        self, client: Any, alice: Any, talk: Any, upstream: Any
    ) -> None:
        session = client.post("/api/sessions/", {"models": ["small"]}, format="json").json()["id"]
        talk(session, "One", files=[self.long_file(alice)])
        budget = ModelConfig.objects.get(name="small").request_tokens
        [run] = talk(session, "Two", files=[file_of(alice, "new.txt", "Low.", budget - 550)])
        ended(run, "completed")
        [run] = talk(session, "Three", files=[file_of(alice, "new.txt", "Low.", budget - 300)])
        ended(run, "completed")
        assert tools_of(upstream.requests[-1]) == []


class TestToolsOfASession:
    def test_a_session_without_an_agent_has_tools_and_a_reminder(
        self, client: Any, talk: Any, upstream: Any
    ) -> None:
        body = {"tools": ["current_time", "current_time"], "reminder": "Name the Moon."}
        session = client.post("/api/sessions/", body, format="json").json()
        assert (session["tools"], session["reminder"]) == (["current_time"], "Name the Moon.")
        upstream.reply(call("current_time"), times=1)
        talk(session["id"], "One", forced_tool="current_time")
        first, second = upstream.requests[-2:]
        assert (tools_of(first), first.body["tool_choice"]) == (["current_time"], "required")
        assert seen(first)[-1] == seen(second)[-1] == "Name the Moon."
        assert "## current_time" in seen(first)[0]
        client.patch(f"/api/sessions/{session['id']}/", {"tools": [], "reminder": ""}, format="json")
        talk(session["id"], "Two")
        assert (tools_of(upstream.requests[-1]), seen(upstream.requests[-1])[-1]) == ([], "Two")

    def test_those_of_the_agent_come_first(self, client: Any, talk: Any, upstream: Any) -> None:
        agent = {"name": "Tides", "prompt": "", "tools": ["current_time"], "reminder": "Be brief."}
        body = {
            "agent": client.post("/api/agents/", agent, format="json").json()["id"],
            "tools": ["research_agent"],
            "reminder": "Name the Moon.",
        }
        session = client.post("/api/sessions/", body, format="json").json()["id"]
        talk(session, "One")
        assert tools_of(upstream.requests[-1]) == ["current_time", "research_agent"]
        assert seen(upstream.requests[-1])[-1] == "Be brief.\n\nName the Moon."

    @pytest.mark.parametrize("tool", ["search_project", "read_file", "nothing"])
    def test_what_a_run_is_offered_by_what_it_has_is_not_chosen(self, client: Any, tool: str) -> None:
        refused = client.post("/api/sessions/", {"tools": [tool]}, format="json")
        assert (refused.status_code, refused.json()["code"], refused.json()["field"]) == (
            400,
            "tool_unknown",
            "tools",
        )


class TestWhatIsDeletedMeanwhile:
    def test_a_file_between_send_and_run(self, client: Any, alice: Any, deliver: Any, upstream: Any) -> None:
        upstream.reply({"text": "Gone."})
        session = client.post("/api/sessions/", {}, format="json").json()["id"]
        file = file_of(alice, "table.txt", "Low.")
        started = factories.send_turn(client, session, "One", files=[file]).json()
        File.objects.get(pk=file).delete()
        run = Run.objects.get(pk=started["runs"][0]["id"])
        deliver(run).result(60)
        ended(run, "completed")
        assert seen(upstream.requests[-1])[1:] == ["One"]

    def test_a_project_between_send_and_run(
        self, client: Any, alice: Any, deliver: Any, upstream: Any
    ) -> None:
        upstream.reply({"text": "Gone."})
        session, project = session_in(client, alice, LEVELS, instructions="Name the Moon.")
        started = factories.send_turn(client, session, "One").json()
        client.delete(f"/api/projects/{project.pk}/")
        run = Run.objects.get(pk=started["runs"][0]["id"])
        deliver(run).result(60)
        ended(run, "completed")
        assert seen(upstream.requests[-1])[1:] == ["One"]

    def test_a_project_between_two_inferences(
        self, client: Any, alice: Any, talk: Any, upstream: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from llm_worker.loading import sources

        session, project = session_in(client, alice, LEVELS)
        searched = sources.search_files

        def delete_first(*args: Any) -> Any:
            Project.objects.filter(pk=project.pk).delete()
            return searched(*args)

        monkeypatch.setattr(sources, "search_files", delete_first)
        upstream.reply(call("search_project", query="low water"), times=1)
        [run] = talk(session, "One", models=["small"])
        ended(run, "completed")
        assert response(upstream.requests[-1]) == "Nothing in the project's files matches."

    def test_a_file_of_another_user_that_got_into_a_project_is_not_found(
        self, client: Any, alice: Any, talk: Any, upstream: Any
    ) -> None:
        session, project = session_in(client, alice, LEVELS)
        file_of(factories.create_user("bob"), "bread.txt", "Low water bread.", project=project)
        upstream.reply(call("search_project", query="low water bread"), times=1)
        talk(session, "One", models=["small"])
        assert [one["title"] for one in found(upstream.requests[-1])] == ["levels.txt"]


def test_a_model_without_vision_is_told_of_an_image_in_one_line(
    client: Any, alice: Any, talk: Any, upstream: Any
) -> None:
    moon = File.objects.create(
        owner=alice, name="moon.png", kind="image", content_type="image/png", status="ready", width_px=64, height_px=64,
        content=ContentFile(b"\x89PNG", name="moon.png"),
    )  # fmt: skip
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    talk(session, "One", files=[str(moon.pk)])
    [question] = seen(upstream.requests[-1])[1:]
    assert question.startswith("One\n\n")
    assert "moon.png" in question


def test_several_files_that_are_too_large_together_end_the_run(
    client: Any, alice: Any, talk: Any, upstream: Any
) -> None:
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    files = [file_of(alice, f"{number}.txt", "Low. ", 4_000) for number in range(2)]
    [run] = talk(session, "One", files=files, models=["small"])
    ended(run, "failed", code="context_too_long")
    assert upstream.requests == []
