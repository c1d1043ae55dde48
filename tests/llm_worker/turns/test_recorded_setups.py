"""Each run records what it was really answered with: agent, prompts, tools and options, also when these change meanwhile."""

import json
from datetime import timedelta

import pytest

from chat.models import Agent, ModelConfig, PromptVersion, Run, RunSetup, SystemPrompt
from chat.prompts import default_system_prompt
from chat.prompts.definition import base_prompt
from chat.protocol.states import Status
from chat.transcript.answer_settings import canonical_json, digest
from llm_worker.attempt import checkpointer
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.outcomes import ended, wait_for_text


@pytest.fixture
def answer(ask, deliver, upstream):
    """Ask and have it answered; returns the setup that was recorded."""

    def answer(text="Why?", *models, **fields):
        upstream.reply({"text": "So."})
        runs = ask(text, *models, **fields)
        for run in runs:
            deliver(run).result(60)
            ended(run, Status.COMPLETED)
        return setup_of(runs[0])

    return answer


def setup_of(run: Run) -> RunSetup:
    return run.setups.select_related("version").get(attempt=run.attempt)


def system_as_sent(setup: RunSetup) -> str:
    """The system prompt, put together from the record."""
    content, session = setup.version.content, setup.run.turn.session
    parts = [content["system"], content["citations"] if setup.options["asks_for_citations"] else ""]
    text = "\n\n".join(filter(None, parts))
    return text.replace("{{CURRENT_DATE}}", f"{session.created_at:%Y-%m-%d}")


def test_the_record_holds_what_the_model_was_sent(answer, upstream, agent_session, searching):
    SystemPrompt.edit("Help people. Today is {{CURRENT_DATE}}.")
    session = agent_session(prompt="Be brief.", reminder="Name the Moon.", tools=["web_search"])
    setup = answer(session=session)
    [request] = upstream.requests
    system, moving, _, reminder = (message["content"] for message in request.messages)
    content = setup.version.content
    assert (content["prompt"], content["reminder"]) == (moving, reminder) == ("Be brief.", "Name the Moon.")
    assert content["tool_schemas"] == request.body["tools"]
    assert system_as_sent(setup) == system
    assert setup.options["system_prompt_digest"] == digest(system)
    assert (setup.agent, setup.agent_name) == (session.agent_id, "Helper")
    assert setup.options["tools"] == ["web_search"]
    assert setup.options["model"] == request.body["model"]
    assert setup.options["context_window"] == ModelConfig.objects.get().context_window


def test_without_an_agent_the_prompt_of_the_installation_is_recorded(answer, upstream):
    setup = answer()
    assert (setup.agent, setup.agent_name) == (None, "")
    assert setup.version.content["base_prompt"] == default_system_prompt()
    assert system_as_sent(setup) == upstream.requests[0].messages[0]["content"]


def test_equal_prompts_are_stored_once_and_a_change_is_another_version(answer, agent_session):
    session = agent_session(prompt="Be brief.")
    first, second = answer(session=session), answer("And now?", session=session)
    session.agent.change(prompt="Be kind.")
    third = answer("And then?", session=session)
    assert first.version == second.version != third.version
    assert PromptVersion.objects.count() == 2
    assert (first.version.content["prompt"], third.version.content["prompt"]) == ("Be brief.", "Be kind.")


def test_the_digest_can_be_computed_again_from_what_is_stored(answer):
    stored = PromptVersion.objects.get(pk=answer().version_id)
    assert digest(canonical_json(json.loads(json.dumps(stored.content)))) == stored.digest


def test_a_change_between_question_and_claim_records_what_was_sent(ask, deliver, upstream, agent_session):
    session = agent_session(prompt="Be brief.")
    upstream.reply({"text": "So."})
    [run] = ask("Why?", session=session)
    session.agent.change(prompt="Be kind.", name="Kind")
    deliver(run).result(60)
    ended(run, Status.COMPLETED)
    assert upstream.requests[0].messages[1]["content"] == "Be kind."
    setup = setup_of(run)
    assert (setup.version.content["prompt"], setup.agent_name) == ("Be kind.", "Kind")


def test_the_record_outlives_the_agent(answer, agent_session):
    session = agent_session(prompt="Be brief.")
    setup = answer(session=session)
    agent_id = session.agent_id
    Agent.objects.all().delete()
    setup.refresh_from_db()
    assert (setup.agent, setup.agent_name, setup.version.content["prompt"]) == (
        agent_id,
        "Helper",
        "Be brief.",
    )


def test_each_attempt_has_its_own_record(ask, deliver, runtime, upstream, agent_session):
    ModelConfig.objects.create(name="prefilling", base_url=upstream.base_url, supports_prefill=True)
    session = agent_session(prompt="Be brief.")
    upstream.reply({"text": "It is "}, {"hang": True}, times=1)
    upstream.reply({"text": "the Moon."})
    [run] = ask("Why?", "prefilling", session=session)
    future = deliver(run)
    wait_for_text(upstream, run, len("It is "))
    runtime.drain(0)
    assert future.result(60)
    session.agent.change(prompt="Be kind.")
    another_worker_does([run])
    run.refresh_from_db()
    assert (run.status, run.attempt) == (Status.COMPLETED, 2)
    first, second = run.setups.select_related("version").order_by("attempt")
    assert [one.version.content["prompt"] for one in (first, second)] == ["Be brief.", "Be kind."]
    assert [one.options["continues_text"] for one in (first, second)] == [False, True]


def test_it_is_stored_with_the_first_text_and_not_only_at_the_end(
    ask, deliver, upstream, monkeypatch, agent_session
):
    monkeypatch.setattr(checkpointer, "INTERVAL_S", 0)
    upstream.reply({"text": "So "}, {"wait": "end"}, {"text": "it is."})
    [run] = ask("Why?", session=agent_session(prompt="Be brief."))
    future = deliver(run)
    upstream.wait_for(lambda: RunSetup.objects.filter(run=run).exists())
    run.refresh_from_db()
    assert (run.status, setup_of(run).version.content["prompt"]) == (Status.RUNNING, "Be brief.")
    upstream.release("end")
    assert future.result(60)
    ended(run, Status.COMPLETED)
    assert run.setups.count() == 1


def test_a_failed_request_is_recorded_as_well(ask, deliver, upstream):
    upstream.reply({"status": 400})
    [run] = ask("Why?")
    deliver(run).result(60)
    run.refresh_from_db()
    assert (run.status, setup_of(run).version.content["base_prompt"]) == (
        Status.FAILED,
        base_prompt().strip(),
    )


def test_what_a_run_refers_to_is_never_purged_and_the_rest_is(answer, agent_session):
    kept = answer(session=agent_session(prompt="Be brief."))
    gone = answer("And?", session=agent_session(prompt="Be kind."))
    gone.run.turn.session.delete()
    age(created_at=2)
    assert PromptVersion.objects.purge() == 0, "marked first"
    age(unused_since=2)
    assert PromptVersion.objects.purge() == 1
    assert list(PromptVersion.objects.all()) == [kept.version]


def test_a_version_that_is_used_again_before_its_purge_stays(answer, agent_session):
    first = answer(session=agent_session(prompt="Be brief."))
    first.run.turn.session.delete()
    age(created_at=2)
    PromptVersion.objects.purge()
    again = answer("Again?", session=agent_session(prompt="Be brief."))
    assert again.version_id == first.version_id
    assert again.version.unused_since is None
    age(created_at=2)
    assert PromptVersion.objects.purge() == 0


def age(**hours: int) -> None:
    """Make the versions older."""
    for version in PromptVersion.objects.all():
        for name, by in hours.items():
            moment = getattr(version, name)
            if moment:
                PromptVersion.objects.filter(pk=version.pk).update(**{name: moment - timedelta(hours=by)})
