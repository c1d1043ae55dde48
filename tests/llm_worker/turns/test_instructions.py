"""What a user wrote for all chats stands last in the system prompt of their turns, and of nobody else's."""

import pytest

from chat.models import Preferences, Run, SystemPrompt
from chat.transcript.answer_settings import digest
from llm_worker.loading.turn_context import TurnContext
from llm_worker.prompts import prompt
from tests import factories
from tests.llm_worker.outcomes import ended

BASE = "Help people."
METRIC = "Call me Al, in metric units."
SECTION = f"{prompt('instructions')}\n\n{METRIC}"


@pytest.fixture
def alice(transactional_db):
    SystemPrompt.edit(BASE)
    return factories.create_user("alice")


@pytest.fixture
def client(alice, upstream):
    factories.create_model("scripted", base_url=upstream.base_url, is_default=True)
    return factories.api_client(alice)


@pytest.fixture
def talk(deliver, upstream):
    """A message is sent and answered; returns the texts of the request, without dates, and the run."""

    def talk(client, session, text="One", **body):
        upstream.reply({"text": f"About {text}"}, contains=text)
        run = Run.objects.get(pk=factories.send_turn(client, session, text, **body).json()["runs"][0]["id"])
        deliver(run).result(60)
        ended(run, "completed")
        texts = [message["content"] for message in upstream.requests[-1].messages]
        return [text.partition("\n\n<sent_at>")[0] for text in texts], run

    return talk


def session_of(client, **fields):
    return client.post("/api/sessions/", fields, format="json").json()["id"]


def agent_of(client, **fields):
    return client.post(
        "/api/agents/", {"name": "Tides", "prompt": "Be brief.", **fields}, format="json"
    ).json()["id"]


def test_they_stand_last_in_the_system_prompt_of_old_and_new_chats(client, alice, talk):
    session = session_of(client)
    assert talk(client, session)[0] == [BASE, "One"]
    Preferences.objects.change(alice, instructions=f"  {METRIC}\n")
    system, *_ = talk(client, session, "Two")[0]
    assert system == f"{BASE}\n\n{SECTION}"
    assert talk(client, session_of(client), "Three")[0] == [system, "Three"]


def test_switched_off_or_blank_they_are_not_sent(client, alice, talk):
    Preferences.objects.change(alice, instructions=METRIC, uses_instructions=False)
    assert talk(client, session_of(client))[0] == [BASE, "One"]
    Preferences.objects.change(alice, instructions=" \n", uses_instructions=True)
    assert talk(client, session_of(client))[0] == [BASE, "One"]


def test_the_prompts_of_agent_and_chat_stand_nearer_to_the_question(client, alice, talk):
    Preferences.objects.change(alice, instructions=METRIC)
    session = session_of(client, agent=agent_of(client), prompt="In German.")
    assert talk(client, session)[0] == [f"{BASE}\n\n{SECTION}", "Be brief.\n\nIn German.", "One"]


@pytest.mark.parametrize(("text", "above"), [("Be brief.", "Be brief.\n\n"), ("", "")])
def test_they_follow_a_prompt_that_replaces_the_base_prompt(client, alice, talk, text, above):
    Preferences.objects.change(alice, instructions=METRIC)
    session = session_of(client, agent=agent_of(client, prompt=text, replaces_system_prompt=True))
    assert talk(client, session)[0] == [f"{above}{SECTION}", "One"]


def test_a_turn_has_those_of_the_user_whose_turn_it_is(client, alice, talk):
    """What one user exports and another imports has nothing of the first."""
    Preferences.objects.change(alice, instructions=METRIC)
    session = session_of(client)
    talk(client, session)
    bob = factories.create_user("bob")
    bobs = factories.api_client(bob)
    exported = client.get(f"/api/sessions/{session}/export/").getvalue()
    assert METRIC.encode() not in exported
    assert METRIC.encode() not in client.get(f"/api/sessions/{session}/messages/").content
    imported = bobs.post("/api/sessions/import/", exported, content_type="application/json").json()["id"]
    assert talk(bobs, imported, "Two")[0][0] == BASE
    Preferences.objects.change(bob, instructions="In verse.")
    assert talk(bobs, imported, "Three")[0][0].endswith("In verse.")


def test_a_layout_that_stores_prompts_in_the_branch_does_not_store_them(client, alice, talk):
    Preferences.objects.change(alice, instructions=METRIC)
    session = session_of(client, agent=agent_of(client, context_layout="append_only"))
    assert talk(client, session)[0] == [f"{BASE}\n\n{SECTION}", "Be brief.", "One"]
    Preferences.objects.change(alice, instructions="")
    assert talk(client, session, "Two")[0][0] == BASE


def test_they_are_charged_to_the_window(client, alice, talk):
    _, run = talk(client, session_of(client))
    config = run.model_config
    without = TurnContext.of_run(run, config).history_window
    Preferences.objects.change(alice, instructions="tide " * 400)
    assert 400 <= without - TurnContext.of_run(run, config).history_window < 450


def test_the_record_of_what_answered_keeps_no_copy(client, alice, talk, searching):
    Preferences.objects.change(alice, instructions=METRIC)
    session = session_of(client, agent=agent_of(client, tools=["web_search"]))
    (system, *_), run = talk(client, session)
    setup = run.setups.select_related("version").get()
    assert METRIC not in str(setup.version.content)
    assert (setup.options["has_instructions"], setup.options["asks_for_citations"]) == (True, True)
    assert setup.options["system_prompt_digest"] == digest(system)
