"""Knowledge bases in turns: what models are told of them, and what they find. From recorded requests."""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from chat.infrastructure.background import with_connection
from chat.log.stream import read_now, run_log
from chat.models import ModelConfig, Run, SideRequest, ToolCall
from chat.protocol.wire import ToolArguments, decode_log_entry
from chat.transcript.tokens import count_tokens
from knowledge.models import File, KnowledgeBase, KnowledgeBaseMember, Project
from llm_worker.attempt.runtime import Runtime
from llm_worker.prompts import prompt
from llm_worker.request.message_renderer import OMITTED_RESPONSE
from llm_worker.request.model_message import call_text
from llm_worker.tools.knowledge_base_search.tool import INDEXING, NOTHING
from tests import factories
from tests.indexed import add_indexed
from tests.llm_worker.outcomes import ended
from tests.llm_worker.turns.knowledge.searches import TOOL, call, open_with, responses
from tests.upstream_steps import Rule


@pytest.fixture
def talk(client: Any, deliver: Any, upstream: Any) -> Any:
    """Alice sends a message and its run is delivered; returns the run, ended."""

    def talk(session: str, text: str, **body: Any) -> Run:
        upstream.reply({"text": f"About {text}"}, contains=text)
        started = factories.send_turn(client, session, text, **body)
        assert started.status_code == 202, started.json()
        run = Run.objects.get(pk=started.json()["runs"][0]["id"])
        deliver(run).result(60)
        ended(run, "completed")
        return run

    return talk


@pytest.fixture
def tides(alice: Any) -> KnowledgeBase:
    base = KnowledgeBase.objects.start(alice, name="Tides", summary="When the water rises.", topics=["moon"])
    add_indexed(base, "levels.txt", "Low water stands at two metres.", url="https://sea.example/levels")
    add_indexed(base, "moon.txt", "Spring tides follow the new moon.")
    return base


@pytest.fixture
def bread(alice: Any) -> KnowledgeBase:
    base = KnowledgeBase.objects.start(alice, name="Bread")
    add_indexed(base, "bread.txt", "Two metres of bread stand in the oven.")
    return base


def join(base: KnowledgeBase, person: Any, role: str = "reader") -> KnowledgeBaseMember:
    member: KnowledgeBaseMember = base.members.create(user=person, role=role)
    return member


def seen(request: Any) -> list[str]:
    """The texts in order, dates left out."""
    return [(message["content"] or "").partition("\n\n<sent_at>")[0] for message in request.messages]


def tools_of(request: Any) -> list[str]:
    return [tool["function"]["name"] for tool in request.body.get("tools", ())]


def called_with(request: Any) -> list[dict[str, Any]]:
    calls = [one for message in request.messages for one in message.get("tool_calls") or ()]
    return [json.loads(one["function"]["arguments"]) for one in calls]


def titles(response: str) -> list[str]:
    if not response.startswith("{"):
        return []
    return [document["title"] for document in json.loads(response)["documents"]]


def call_after(change: Any, **arguments: Any) -> Any:
    """A rule for the second inference of a turn: the change to the rows happens before it makes this call."""

    def steps(_: Any) -> list[Any]:
        # The server is an event loop, which may not use the database itself.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(with_connection, change).result(30)
        return [call(**arguments)]

    return Rule(steps, times=1, after_tools=1)


class TestWhatAModelIsTold:
    def test_nothing_bound_leaves_the_requests_as_they_are(
        self, client: Any, talk: Any, upstream: Any
    ) -> None:
        talk(open_with(client), "One")
        [request] = upstream.requests
        assert seen(request) == ["Help people.", "One"]
        assert tools_of(request) == []

    def test_the_block_stands_above_the_question_and_in_no_later_history(
        self, client: Any, talk: Any, upstream: Any, tides: KnowledgeBase
    ) -> None:
        session = open_with(client, tides)
        talk(session, "One", additional_context="It rains.")
        talk(session, "Two")
        first, second = upstream.requests
        system, block, question = seen(first)
        assert question == "One"
        assert block.startswith("# Knowledge bases\n\n")
        line = f"- Tides (id {tides.pk}): 2 documents. Summary: When the water rises. Topics: moon."
        assert line in block.split("\n")
        assert block.index(line) < block.index("<additional_context"), "it is the first of the blocks"
        assert tools_of(first) == [TOOL]
        assert system == seen(second)[0]
        assert [text[:17] for text in seen(second)[1:]] == ["One", "About One", "# Knowledge bases", "Two"]

    def test_guidance_is_relaxed_unless_bases_were_picked(
        self, client: Any, talk: Any, upstream: Any, tides: KnowledgeBase, bread: KnowledgeBase
    ) -> None:
        session = open_with(client, tides)
        talk(session, "One")
        run = talk(session, "Two", knowledge_bases=[str(bread.pk)])
        talk(session, "Three")
        systems = [seen(request)[0] for request in upstream.requests]
        relaxed, strict = prompt("knowledge_relaxed"), prompt("knowledge_strict")
        assert [(relaxed in one, strict in one) for one in systems] == [
            (True, False),
            (False, True),
            (True, False),
        ]
        assert systems[0] == systems[2]
        assert not any(str(base.pk) in one for one in systems for base in (tides, bread))
        assert (run.knowledge_bases, run.are_bases_picked) == ([bread.pk], True)
        block = seen(upstream.requests[1])[-2]
        assert "Bread" in block
        assert "Tides" not in block, "picked bases win entirely"

    def test_the_sessions_bases_come_before_its_agents_without_repeats(
        self, client: Any, talk: Any, upstream: Any, tides: KnowledgeBase, bread: KnowledgeBase
    ) -> None:
        body = {"name": "Baker", "prompt": "", "knowledge_bases": [str(tides.pk), str(bread.pk)]}
        agent = client.post("/api/agents/", body, format="json").json()
        assert agent["knowledge_bases"] == body["knowledge_bases"]
        run = talk(open_with(client, bread, agent=agent["id"]), "One")
        assert run.knowledge_bases == [bread.pk, tides.pk]
        block = seen(upstream.requests[0])[-2]
        assert block.index("Bread") < block.index("Tides")

    def test_a_base_that_was_deleted_or_left_is_unknown(
        self, client: Any, talk: Any, upstream: Any, alice: Any, tides: KnowledgeBase
    ) -> None:
        bob = factories.create_user("bob")
        theirs, gone = (KnowledgeBase.objects.start(bob, name=name) for name in ("Theirs", "Gone"))
        member = join(theirs, alice)
        join(gone, alice)
        session = open_with(client, theirs, gone, tides)
        member.delete()
        gone_id = gone.pk
        gone.delete()
        run = talk(session, "One")
        block = seen(upstream.requests[0])[1]
        assert f"- Unknown (id {theirs.pk})" in block
        assert f"- Unknown (id {gone_id})" in block
        assert "Theirs" not in block
        assert run.knowledge_bases == [tides.pk]

    def test_three_bases_have_short_summaries(
        self, client: Any, talk: Any, upstream: Any, alice: Any, tides: KnowledgeBase, bread: KnowledgeBase
    ) -> None:
        long = KnowledgeBase.objects.start(alice, name="Long", summary="wide water " * 50 + "ends here")
        talk(open_with(client, tides, long), "One")
        talk(open_with(client, tides, long, bread), "Two")
        two, three = (seen(request)[1] for request in upstream.requests)
        assert "ends here" in two
        assert "ends here" not in three
        assert "wide water wide" in three

    def test_a_model_without_tools_is_told_and_offered_nothing_to_call(
        self, client: Any, talk: Any, upstream: Any, tides: KnowledgeBase
    ) -> None:
        ModelConfig.objects.update(supports_tools=False)
        talk(open_with(client, tides), "One")
        assert "Tides" in seen(upstream.requests[0])[1]
        assert tools_of(upstream.requests[0]) == []

    def test_the_block_is_never_stored_in_the_branch(
        self, client: Any, talk: Any, upstream: Any, tides: KnowledgeBase
    ) -> None:
        """Access to the base may be lost before the next turn."""
        body = {"name": "Tides", "prompt": "Be brief.", "context_layout": "append_only"}
        agent = client.post("/api/agents/", body, format="json").json()
        session = open_with(client, tides, agent=agent["id"])
        talk(session, "One")
        talk(session, "Two")
        shown = [text[:17] for text in seen(upstream.requests[-1])[1:]]
        assert shown == ["Be brief.", "One", "About One", "# Knowledge bases", "Two"]


class TestSearching:
    def test_passages_are_documents_to_cite_with_a_link_where_there_is_one(
        self, client: Any, talk: Any, upstream: Any, tides: KnowledgeBase
    ) -> None:
        session = open_with(client, tides)
        upstream.reply(call(queries=["low water", "new moon"]), times=1)
        upstream.reply({"text": "Two metres [1], spring [2]."}, after_tools=1)
        run = talk(session, "One")
        first, second = upstream.requests
        assert second.messages[: len(first.messages)] == first.messages
        [response] = responses(second)
        found = json.loads(response)["documents"]
        linked = next(one for one in found if one["title"] == "levels.txt")
        assert list(linked) == ["document", "title", "url", "metadata", "contents"]
        assert linked["url"] == "https://sea.example/levels"
        assert linked["metadata"] == {"knowledge_base": "Tides", "start": "0"}
        assert linked["contents"] == "Low water stands at two metres."
        plain = next(one for one in found if one["title"] == "moon.txt")
        assert list(plain) == ["document", "title", "metadata", "contents"]
        run.message.refresh_from_db()
        assert run.message.text == "Two metres [[1]](https://sea.example/levels), spring [2]."
        answer = client.get(f"/api/sessions/{session}/messages/").json()[1]
        cited = answer["citations"]
        assert [one["document_id"] for one in cited] == [
            str(File.objects.get(name=name).pk) for name in ("levels.txt", "moon.txt")
        ]
        [listed] = answer["tool_calls"]
        assert {one["knowledge_base"] for one in listed["documents"]} == {str(tides.pk)}

    def test_the_log_tells_when_what_was_found_is_stored(
        self, client: Any, talk: Any, upstream: Any, tides: KnowledgeBase, caplog: pytest.LogCaptureFixture
    ) -> None:
        for query in ("low water", "nothing of the kind"):
            upstream.reply(call(query=query), times=1, after_tools=0)
            upstream.reply({"text": "So."}, after_tools=1)
            caplog.clear()
            run = talk(open_with(client, tides), f"Where is {query}?")
            [row] = ToolCall.objects.filter(run=run)
            said = [
                record.msg
                for record in caplog.records
                if record.name == "llm_worker.side_requests.safe_summary"
            ]
            assert [(line["event"], line["tool_call"], line["run"]) for line in said] == [
                (f"knowledge_search_persist_{step}", str(row.pk), str(run.pk)) for step in ("started", "done")
            ]

    def test_a_named_base_alone_is_searched_by_id_or_name(
        self, client: Any, talk: Any, upstream: Any, tides: KnowledgeBase, bread: KnowledgeBase
    ) -> None:
        session = open_with(client, tides, bread)
        query = "two metres"
        upstream.reply(
            call(query=query),
            call(query=query, knowledge_base=str(tides.pk)),
            call(query=query, knowledge_base="bread"),
            times=1,
        )
        talk(session, "One")
        everywhere, in_tides, in_bread = map(titles, responses(upstream.requests[-1]))
        assert set(everywhere) == {"levels.txt", "bread.txt"}
        assert in_tides == ["levels.txt"]
        assert in_bread == ["bread.txt"]

    @pytest.mark.parametrize("is_bound", [True, False], ids=["bound", "not bound"])
    def test_an_id_means_no_base_that_is_called_like_it(
        self,
        client: Any,
        talk: Any,
        upstream: Any,
        tides: KnowledgeBase,
        bread: KnowledgeBase,
        is_bound: bool,
    ) -> None:
        KnowledgeBase.objects.filter(pk=bread.pk).update(name=str(tides.pk).upper())
        session = open_with(client, bread, *([tides] if is_bound else []))
        upstream.reply(call(query="two metres", knowledge_base=str(tides.pk)), times=1)
        talk(session, "One")
        [response] = responses(upstream.requests[-1])
        assert (titles(response) == ["levels.txt"]) if is_bound else (response == NOTHING)

    @pytest.mark.parametrize("is_picked", [True, False], ids=["picked", "bound"])
    def test_a_base_that_is_not_the_turns_finds_nothing(
        self,
        client: Any,
        talk: Any,
        upstream: Any,
        tides: KnowledgeBase,
        bread: KnowledgeBase,
        is_picked: bool,
    ) -> None:
        """Although the user may read it, and although it is bound if another one was picked."""
        session = open_with(client, tides, *([bread] if is_picked else []))
        upstream.reply(call(query="two metres", knowledge_base=str(bread.pk)), times=1)
        talk(session, "One", **({"knowledge_bases": [str(tides.pk)]} if is_picked else {}))
        assert responses(upstream.requests[-1]) == [NOTHING]

    def test_calls_of_one_step_become_one_search(
        self, client: Any, talk: Any, upstream: Any, tides: KnowledgeBase
    ) -> None:
        upstream.reply(call(query="low water"), call(query="new moon"), times=1)
        run = talk(open_with(client, tides), "One")
        [row] = ToolCall.objects.filter(run=run)
        assert row.arguments == {"queries": ["low water", "new moon"]}

    def test_what_is_not_indexed_yet_is_said(
        self, client: Any, talk: Any, upstream: Any, alice: Any, tides: KnowledgeBase
    ) -> None:
        File.objects.create(owner=alice, knowledge_base=tides, name="new.txt", status="processing")
        upstream.reply(call(query="low water"), times=1)
        talk(open_with(client, tides), "One")
        assert "2 documents, 1 more being read." in seen(upstream.requests[0])[1]
        [response] = responses(upstream.requests[-1])
        assert json.loads(response)["note"] == INDEXING
        assert titles(response) == ["levels.txt"]

    def test_a_membership_that_is_lost_within_the_turn_finds_nothing_more(
        self, client: Any, talk: Any, upstream: Any, alice: Any
    ) -> None:
        base = KnowledgeBase.objects.start(factories.create_user("bob"), name="Theirs")
        add_indexed(base, "levels.txt", "Low water stands at two metres.")
        member = join(base, alice)
        upstream.reply(call(query="low water"), times=1, after_tools=0)
        upstream.rules.append(
            call_after(KnowledgeBaseMember.objects.filter(pk=member.pk).delete, query="two metres")
        )
        talk(open_with(client, base), "One")
        [before] = responses(upstream.requests[1])
        assert titles(before) == ["levels.txt"]
        first, second = responses(upstream.requests[-1])
        assert first == OMITTED_RESPONSE
        assert second == NOTHING

    def test_the_research_agent_searches_them_too(
        self, client: Any, talk: Any, upstream: Any, tides: KnowledgeBase
    ) -> None:
        asked = "Where does low water stand?"
        research = {"call": {"name": "research_agent", "arguments": {"question": asked}}}
        upstream.reply(research, times=1, after_tools=0, contains="One")
        upstream.reply(call(query="low water"), times=1, after_tools=0, contains=asked)
        upstream.reply({"text": "At two metres [1]."}, times=1, after_tools=1, contains=asked)
        talk(open_with(client, tides, tools=["research_agent"]), "One")
        outer, inner, reporting, _ = upstream.requests
        assert tools_of(outer) == [TOOL, "research_agent"]
        assert "It can search the knowledge bases of this chat as well." in seen(outer)[0]
        assert tools_of(inner) == ["current_time", TOOL, "open_url"]
        assert titles(responses(reporting)[0]) == ["levels.txt"]


class TestQueryExpansion:
    @pytest.fixture(autouse=True)
    def switched_on(self, settings: Any) -> None:
        settings.QUERY_EXPANSION = True

    def rewrites(self, upstream: Any) -> list[str]:
        """What the model was asked to rewrite."""
        texts = [one.messages[-1]["content"] for one in upstream.asides]
        return [text for text in texts if text.startswith('{"queries"')]

    def test_all_queries_that_ran_are_what_is_stored_shown_and_replayed(
        self, client: Any, talk: Any, upstream: Any, tides: KnowledgeBase
    ) -> None:
        session = open_with(client, tides)
        upstream.reply({"text": '```json\n{"queries": ["new moon", "ebb"]}\n```'}, stream=False)
        upstream.reply(call(query="low water", knowledge_base="Tides"), times=1)
        run = talk(session, "One")
        assert self.rewrites(upstream) == ['{"queries": ["low water"]}']
        ran = {"queries": ["low water", "new moon", "ebb"], "knowledge_base": "Tides"}
        [row] = ToolCall.objects.filter(run=run)
        assert row.arguments == ran
        assert row.token_count == count_tokens(call_text(TOOL, ran))
        assert set(titles(responses(upstream.requests[-1])[0])) == {"levels.txt", "moon.txt"}
        assert called_with(upstream.requests[-1]) == [ran]
        entries = [decode_log_entry(line).obj for _, line in read_now(run_log(session, run.pk)).lines]
        assert [one.arguments for one in entries if isinstance(one, ToolArguments)][-1] == ran
        shown = client.get(f"/api/sessions/{session}/messages/").json()[1]["tool_calls"]
        assert [one["arguments"] for one in shown] == [ran]
        talk(session, "Two")
        assert called_with(upstream.requests[-1]) == [ran]
        [request] = SideRequest.objects.filter(purpose="expansion")
        assert (request.run_id, request.prompt_tokens is not None) == (run.pk, True)

    @pytest.mark.parametrize("step", [{"text": "low tide"}, {"status": 400}, {"hang": True}], ids=str)
    def test_whatever_fails_leaves_the_given_query(
        self, client: Any, talk: Any, upstream: Any, settings: Any, tides: KnowledgeBase, step: Any
    ) -> None:
        settings.TOOL_TIMEOUT_S = 2
        upstream.reply(step, stream=False)
        upstream.reply(call(query="low water"), times=1)
        run = talk(open_with(client, tides), "One")
        assert self.rewrites(upstream)
        [row] = ToolCall.objects.filter(run=run)
        assert row.arguments == {"query": "low water"}
        assert titles(row.response) == ["levels.txt"]

    def test_searches_of_a_project_are_expanded_too(
        self, client: Any, talk: Any, upstream: Any, alice: Any
    ) -> None:
        project = Project.objects.create(owner=alice, name="Sea")
        add_indexed(project, "levels.txt", "Low water stands at two metres.", token_count=10**6)
        upstream.reply({"text": '["low water"]'}, stream=False)
        upstream.reply({"call": {"name": "search_project", "arguments": {"query": "ebb"}}}, times=1)
        run = talk(open_with(client, project=str(project.pk)), "One")
        [row] = ToolCall.objects.filter(run=run)
        assert row.arguments == {"queries": ["ebb", "low water"]}
        assert titles(row.response) == ["levels.txt"]


class TestASecondAttempt:
    def test_it_is_told_the_same_and_does_not_search_again(
        self, client: Any, alice: Any, upstream: Any, settings: Any, runtime: Any, tides: KnowledgeBase
    ) -> None:
        settings.QUERY_EXPANSION = True
        upstream.reply({"text": '["new moon"]'}, stream=False)
        upstream.reply(call(query="low water"), times=1)
        upstream.reply({"text": "Two "}, {"wait": "never"}, times=1, after_tools=1)
        upstream.reply({"text": "Two metres."}, after_tools=1)
        started = factories.send_turn(client, open_with(client, tides), "One").json()
        run = Run.objects.get(pk=started["runs"][0]["id"])
        with ThreadPoolExecutor(1) as thread:
            delivered = thread.submit(runtime.run, str(run.pk))
            upstream.wait_for_requests(2)
            KnowledgeBase.objects.filter(pk=tides.pk).update(name="Renamed", summary="Changed.")
            runtime.drain(0)
            delivered.result(60)
        second = Runtime()
        second.start()
        second.run(str(run.pk))
        second.stop()
        ended(run, "completed", text="Two metres.")
        _, before, after = upstream.requests
        assert after.messages == before.messages
        assert after.body.get("tools") == before.body.get("tools")
        assert ToolCall.objects.filter(run=run).count() == 1
        assert len(upstream.asides) == 1


class TestRestrictedRuns:
    @pytest.fixture
    def staff(self, alice: Any) -> KnowledgeBase:
        base = KnowledgeBase.objects.start(
            factories.create_user("bob"),
            name="Staff",
            summary="Canary of the summary.",
            topics=["canary-topic"],
            routing_hint="Questions about contracts",
            routing_keywords=["leave"],
        )
        add_indexed(base, "canary-title.txt", "Canary of the text: low water.")
        join(base, alice, "restricted")
        return base

    def test_one_restricted_base_restricts_all_that_the_run_is_told(
        self, client: Any, talk: Any, upstream: Any, tides: KnowledgeBase, staff: KnowledgeBase
    ) -> None:
        upstream.reply(call(query="low water"), times=1)
        run = talk(open_with(client, tides, staff), "One")
        assert (run.knowledge_access, run.is_restricted) == ("restricted", True)
        assert run.knowledge_bases == [tides.pk, staff.pk]
        block = seen(upstream.requests[0])[1]
        assert "Hint: Questions about contracts. Keywords: leave." in block
        for hidden in ("Canary", "canary", "documents.", "When the water rises", "moon"):
            assert hidden not in block.split("\n\n")[1]
        assert "Canary" not in str([request.body for request in upstream.requests])
        [response] = responses(upstream.requests[-1])
        assert json.loads(response)["decision"] == "refuse"

    def test_a_role_that_becomes_restricted_within_the_turn_ends_all_searches(
        self, client: Any, talk: Any, upstream: Any, alice: Any, tides: KnowledgeBase, staff: KnowledgeBase
    ) -> None:
        member = KnowledgeBaseMember.objects.filter(knowledge_base=staff, user=alice)
        member.update(role="reader")
        upstream.reply(call(query="low water"), times=1, after_tools=0)
        restrict = partial(member.update, role="restricted")
        upstream.rules.append(call_after(restrict, query="low water", knowledge_base="Tides"))
        run = talk(open_with(client, tides, staff), "One")
        assert run.knowledge_access == "restricted", "from then on"
        [before] = responses(upstream.requests[1])
        assert set(titles(before)) == {"levels.txt", "canary-title.txt"}
        first, second = responses(upstream.requests[-1])
        assert first == OMITTED_RESPONSE
        assert json.loads(second)["decision"] == "refuse", "also in the base that stays readable"

    def test_no_other_tool_reads_documents_or_files(
        self, client: Any, talk: Any, upstream: Any, alice: Any, staff: KnowledgeBase
    ) -> None:
        project = Project.objects.create(owner=alice, name="Sea")
        File.objects.create(
            owner=alice, project=project, name="a.txt", text="Low.", status="ready", token_count=10**6
        )
        talk(open_with(client, staff, project=str(project.pk), tools=["current_time"]), "One")
        assert tools_of(upstream.requests[0]) == ["current_time", TOOL]
        assert any(
            "The files of this chat's project are not shown" in one for one in seen(upstream.requests[0])
        )
