"""The admin shows what a run was answered with, and how that differs from what is in force now."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import Agent, PromptVersion, Run, Session, SystemPrompt
from chat.models.outcome import RunOutcome
from chat.prompts.definition import base_prompt, define_prompts
from chat.protocol.states import Status
from chat.runs.completion import announce, commit_end
from chat.transcript.answer_settings import AnswerSetup
from tests import factories

pytestmark = pytest.mark.django_db

PROMPT = "Answer <b>briefly</b>."


@pytest.fixture
def agent(db: None) -> Agent:
    return Agent.objects.create(owner=factories.create_user("carol"), name="Tides", prompt=PROMPT)


@pytest.fixture
def run(agent: Agent) -> Run:
    """Answered with the agent as it is."""
    run = factories.queued_run()
    Session.objects.update(agent=agent)
    return answer(run, agent)


def answer(run: Run, agent: Agent | None, **more: Any) -> Run:
    prompts = define_prompts(agent, agent.prompt if agent else "", base_prompt())
    setup = AnswerSetup(
        prompts | {"system": "Composed.", "citations": "", "tool_schemas": []},
        {"model": "quick", "max_output_tokens": 77},
        agent.pk if agent else None,
        agent.name if agent else "",
    )
    claimed = Run.objects.claim(run.pk, owner=1)
    assert claimed
    end = RunOutcome(Status.COMPLETED, last_seq=3, text="So.", setup=setup, **more)
    assert commit_end(claimed.pk, claimed.attempt, end)
    announce(run.pk)
    return run


def page(client: Client, row: Any) -> str:
    url = reverse(f"admin:chat_{row._meta.model_name}_change", args=[row.pk])
    return client.get(url).content.decode()


@pytest.fixture
def staff(db: None) -> Client:
    return factories.staff_client("view_run", "view_promptversion", "view_sentrequest")


def test_a_run_names_agent_version_and_options(staff: Client, run: Run) -> None:
    shown = page(staff, run)
    version = PromptVersion.objects.get()
    for part in (
        "Tides",
        version.short,
        "max_output_tokens",
        "77",
        "The same prompts and tools are in force now.",
    ):
        assert part in shown
    assert reverse("admin:chat_promptversion_change", args=[version.pk]) in shown


def test_what_has_changed_since_is_shown_beside_what_answered(staff: Client, run: Run, agent: Agent) -> None:
    agent.change(prompt="Be kind.")
    shown = page(staff, run)
    for part in ("It differs from what is in force now", "Answer &lt;b&gt;briefly&lt;/b&gt;.", "Be kind."):
        assert part in shown


def test_without_an_agent_the_installations_prompt_is_compared(staff: Client) -> None:
    run = answer(factories.queued_run(), None)
    assert "The same prompts and tools are in force now." in page(staff, run)
    SystemPrompt.edit("Help people.")
    assert "Help people." in page(staff, run)


def test_of_a_deleted_agent_the_version_remains(staff: Client, run: Run, agent: Agent) -> None:
    agent.delete()
    shown = page(staff, run)
    assert "The agent is deleted" in shown
    assert "Tides" in shown
    assert "Answer &lt;b&gt;briefly&lt;/b&gt;." in page(staff, PromptVersion.objects.get())


def test_prompts_are_shown_only_to_staff_who_may_see_them(run: Run, agent: Agent) -> None:
    agent.change(prompt="Be kind.")
    shown = page(factories.staff_client("view_run"), run)
    assert "Be kind." not in shown
    assert "briefly" not in shown


def test_a_version_leads_to_the_runs_that_were_answered_with_it(staff: Client, run: Run) -> None:
    shown = staff.get(reverse("admin:chat_promptversion_changelist")).content.decode()
    version = PromptVersion.objects.get()
    link = f"{reverse('admin:chat_run_changelist')}?setups__version={version.digest}"
    assert version.short in shown
    assert link in shown
    found = staff.get(link)
    assert [one.pk for one in found.context["cl"].result_list] == [run.pk]


def test_a_version_cannot_be_changed(staff: Client, run: Run) -> None:
    url = reverse("admin:chat_promptversion_change", args=[PromptVersion.objects.get().pk])
    assert staff.post(url, {"content": "{}"}).status_code == 403


def test_the_owner_reads_agent_and_version_of_a_run(run: Run, agent: Agent) -> None:
    client = factories.api_client(Session.objects.get().owner)
    shown = client.get(f"/api/runs/{run.pk}/").json()
    assert shown["agent"] == {"id": str(agent.pk), "name": "Tides"}
    assert shown["version"] == PromptVersion.objects.get().digest
    assert "briefly" not in str(shown)
