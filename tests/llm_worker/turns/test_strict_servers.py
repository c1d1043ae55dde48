"""Turns, titles and kept requests with a server whose chat template demands alternating roles."""

import pytest
from django.core.files.base import ContentFile

from chat.models import ChatMessage, ModelConfig, SentRequest
from chat.protocol.states import Status
from chat.runs.cancellation import stop_run
from knowledge.models import File, Project
from tests.features.titles.titling import name_session
from tests.llm_worker.outcomes import ended, stopped
from tests.llm_worker.turns.test_kept_requests import kept
from tests.tool_fixtures import MOON, search_call, tool_responses


@pytest.fixture
def strict(transactional_db, upstream):
    """The model that answers, on a strict server."""
    upstream.strict = True
    return ModelConfig.objects.create(
        name="scripted", base_url=upstream.base_url, requires_alternating_roles=True
    )


@pytest.fixture
def session(agent_session, searching, settings, tmp_path):
    """With an agent that has everything, in a project with a file."""
    settings.MEDIA_ROOT = tmp_path
    searching.find(MOON, query="moon")
    session = agent_session(prompt="Be brief.", reminder="Name the Moon.", tools=["web_search"])
    session.project = Project.objects.create(owner=session.owner, name="Tides")
    session.save()
    File.objects.create(
        owner=session.owner, project=session.project, name="tides.txt", kind="text", status="ready",
        token_count=3, content=ContentFile(b"Twice a day.", "tides.txt"), text="Twice a day.",
    )  # fmt: skip
    return session


def roles(request):
    return " ".join(message["role"][0] for message in request.messages)


def test_a_server_with_the_usual_settings_is_understood_from_its_first_refusal_on(
    ask, deliver, upstream, strict
):
    ModelConfig.objects.update(requires_alternating_roles=False)
    for question in ("Why?", "And then?"):
        [run] = ask(question, dynamic_context="It rains.")
        deliver(run).result(60)
        ended(run, Status.COMPLETED)
    assert [request.ended for request in upstream.requests] == ["status", "complete", "complete"]
    assert [roles(request) for request in upstream.requests] == ["s u u", "s u", "s u"]


def test_prompts_documents_context_and_reminders_are_joined(ask, deliver, upstream, strict, session):
    for question in ("Why?", "And then?"):
        upstream.reply(search_call("moon"), times=1)
        upstream.reply({"text": "So [1]."}, times=1)
        [run] = ask(question, session=session, dynamic_context="It rains.")
        deliver(run).result(60)
        ended(run, Status.COMPLETED)
    assert [roles(request) for request in upstream.requests] == [
        "s u",
        "s u a t",
        "s u a t a u",
        "s u a t a u a t",
    ]
    first, second = upstream.requests[0].messages[-1]["content"], tool_responses(upstream.requests[1])[0]
    places = [
        first.index(part) for part in ("Be brief.", "Twice a day.", "It rains.", "Why?", "Name the Moon.")
    ]
    assert places == sorted(places)
    assert second.startswith('{"documents"')
    assert "Name the Moon." in second.partition("\n\n")[2]


def test_a_turn_without_an_answer_does_not_break_the_next_one(ask, deliver, upstream, strict):
    upstream.reply({"hang": True}, times=1)
    upstream.reply({"text": "Yes."})
    [run] = ask("One?")
    future = deliver(run)
    upstream.wait_for_requests()
    stop_run(run.pk)
    assert stopped(upstream, future, run).text == ""
    [second] = ask("Two?", session=run.turn.session)
    deliver(second).result(60)
    ended(second, Status.COMPLETED, text="Yes.")
    [_, asked] = upstream.requests[1].messages
    assert asked["content"].index("One?") < asked["content"].index("Two?")


def test_a_turn_that_was_stopped_after_its_tools_does_not_break_the_next_one(
    ask, deliver, upstream, strict, session
):
    upstream.reply(search_call("moon"), times=1)
    upstream.reply({"hang": True}, times=1)
    upstream.reply({"text": "Yes."})
    [run] = ask("One?", session=session)
    future = deliver(run)
    upstream.wait_for_requests(2)
    stop_run(run.pk)
    stopped(upstream, future, run)
    [second] = ask("Two?", session=session)
    deliver(second).result(60)
    ended(second, Status.COMPLETED, text="Yes.")
    assert roles(upstream.requests[2]) == "s u a t a u"


def test_an_answer_whose_question_does_not_fit_is_not_the_first_message(ask, deliver, upstream, strict):
    upstream.reply({"text": "Yes."})
    [run] = ask("word " * 3000)
    deliver(run).result(60)
    ModelConfig.objects.update(context_window=2000, max_output_tokens=500)
    [second] = ask("And?", session=run.turn.session)
    deliver(second).result(60)
    ended(second, Status.COMPLETED, text="Yes.")
    assert "word word" not in str(upstream.requests[1].messages)


def test_a_session_is_named(ask, deliver, runtime, upstream, strict):
    upstream.reply({"text": "Two."})
    upstream.reply({"text": "Two Tides"}, stream=False)
    [run] = ask("Why?")
    deliver(run).result(60)
    name_session(runtime, str(run.pk))
    run.turn.session.refresh_from_db()
    assert (run.turn.session.title, upstream.asides[0].ended) == ("Two Tides", "complete")


def test_the_kept_request_is_the_one_that_was_sent(ask, deliver, upstream, strict, session):
    upstream.reply(search_call("moon"), times=1)
    upstream.reply({"text": "So."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    rows = kept(run, 2)
    assert [row.whole() for row in rows] == [request.messages for request in upstream.requests]
    letters = [part[0] for _message, part in SentRequest.objects.get(pk=rows[1].pk).weighed()]
    assert letters == ["S", "CA P U", "TC", "TR R"]
    assert ChatMessage.objects.get(pk=run.turn.user_message_id).text == "Why?"
