"""Staff can read everything in the admin and change nothing that a user wrote."""

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from chat.models import (
    Agent,
    ChatMessage,
    CitedDocument,
    Compression,
    ModelConfig,
    PromptBlock,
    Role,
    Run,
    Session,
    SystemPrompt,
    ToolCall,
    Turn,
)
from chat.transcript.tokens import Measured

pytestmark = pytest.mark.django_db


@pytest.fixture
def answered() -> Session:
    """alice's session: a question and its finished answer."""
    alice = get_user_model().objects.create_user("alice")
    session = Session.objects.start(alice, title="Tides")
    question = ChatMessage.objects.append(
        ChatMessage.objects.root_of(session), role=Role.USER, text="Why <b>two</b> tides a day?"
    )
    answer = ChatMessage.objects.append(question, role=Role.ASSISTANT, text="The Moon pulls both sides.")
    turn = Turn.objects.create(session=session, user_message=question)
    model = ModelConfig.objects.create(name="tide-model")
    run = Run.objects.create(
        turn=turn,
        message=answer,
        model_config=model,
        model=model.name,
        model_index=0,
        deadline=turn.created_at,
    )
    call = ToolCall.objects.create(
        run=run,
        message=answer,
        turn_number=0,
        tool_call_id="c1",
        name="research_agent",
        response="Two bulges.",
    )
    ToolCall.objects.create(
        run=run, parent_tool_call=call, turn_number=0, tool_call_id="c2", name="web_search"
    )
    CitedDocument.objects.create(message=answer, number=1, document_id="a", title="On tides")
    PromptBlock.objects.create(message=question, kind="CA", text="Be brief.")
    Agent.objects.create(owner=alice, name="Tides", prompt="Be brief.")
    summary = ChatMessage.objects.append(
        question, role=Role.SUMMARY, text="They spoke of tides.", last_summarized_message=answer
    )
    Compression.objects.create(
        session=session, parent=question, leaf=answer, model="tide-model", triggered_by="auto",
        status="done", ended_at=turn.created_at, summary=summary, tokens_before=900, tokens_after=300,
        reserved_tokens=250, history_window=750,
    )  # fmt: skip
    return session


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(get_user_model().objects.create_superuser("root"))
    return client


def registered() -> list[Any]:
    return [model for model in admin.site._registry if model._meta.app_label == "chat"]


@pytest.mark.parametrize("model", registered(), ids=lambda model: model.__name__)
def test_every_list_opens_and_searches(staff: Client, answered: Session, model: Any) -> None:
    url = reverse(f"admin:chat_{model._meta.model_name}_changelist")
    assert staff.get(url).status_code == 200
    assert staff.get(url, {"q": "alice"}).status_code == 200


@pytest.mark.parametrize("model", registered(), ids=lambda model: model.__name__)
def test_every_row_opens(staff: Client, answered: Session, model: Any) -> None:
    for row in model.objects.all():
        response = staff.get(reverse(f"admin:chat_{model._meta.model_name}_change", args=[row.pk]))
        assert response.status_code == 200
        assert str(row.pk) in response.content.decode()


@pytest.mark.parametrize(
    "model", [Session, ChatMessage, Turn, Run, ToolCall, Compression], ids=lambda model: model.__name__
)
def test_conversations_cannot_be_changed_added_or_deleted(
    staff: Client, answered: Session, model: Any
) -> None:
    name, row = model._meta.model_name, model.objects.first()
    assert staff.post(reverse(f"admin:chat_{name}_change", args=[row.pk]), {"text": "x"}).status_code == 403
    assert staff.post(reverse(f"admin:chat_{name}_add"), {}).status_code == 403
    assert staff.post(reverse(f"admin:chat_{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


def test_text_of_users_is_escaped(staff: Client, answered: Session) -> None:
    page = staff.get(reverse("admin:chat_turn_changelist")).content.decode()
    assert "&lt;b&gt;two&lt;/b&gt;" in page
    assert "<b>two" not in page


def test_a_message_shows_its_calls_its_citations_and_what_stands_above_it(
    staff: Client, answered: Session
) -> None:
    def page(row: Any) -> str:
        url = reverse(f"admin:chat_{row._meta.model_name}_change", args=[row.pk])
        return staff.get(url).content.decode()

    question, answer = answered.messages.replies().order_by("sent_at")
    assert "Be brief." in page(question)
    assert "Two bulges." in page(answer)
    assert "On tides" in page(answer)
    assert "web_search" not in page(answer)
    assert "web_search" in page(ToolCall.objects.get(name="research_agent"))


class TestAgents:
    def post(self, staff: Client, **fields: Any) -> Any:
        agent = Agent.objects.get()
        url = reverse("admin:chat_agent_change", args=[agent.pk])
        given = {"owner": agent.owner_id, "name": "New", "prompt": "", "context_layout": "moving"}
        return staff.post(url, given | fields)

    def test_tools_and_models_are_chosen(self, staff: Client, answered: Session) -> None:
        response = self.post(staff, tools=["web_search"], models=["tide-model"])
        assert response.status_code == 302
        agent = Agent.objects.get()
        assert (agent.name, agent.tools, agent.models) == ("New", ["web_search"], ["tide-model"])

    @pytest.mark.parametrize("fields", [{"tools": ["hammer"]}, {"models": ["nobody"]}])
    def test_what_does_not_exist_is_refused(
        self, staff: Client, answered: Session, fields: dict[str, Any]
    ) -> None:
        assert self.post(staff, **fields).status_code == 200
        assert Agent.objects.get().name == "Tides"

    def test_at_most_four_models_answer(self, staff: Client, answered: Session) -> None:
        names = [ModelConfig.objects.create(name=name).name for name in "abcde"]
        assert self.post(staff, models=names).status_code == 200
        assert self.post(staff, models=names[:4]).status_code == 302


def test_a_model_has_prices(staff: Client, answered: Session) -> None:
    page = staff.get(reverse("admin:chat_modelconfig_change", args=[ModelConfig.objects.get().pk]))
    assert {"prompt_price", "cached_price", "completion_price"} <= set(page.context["adminform"].form.fields)


def test_a_model_takes_only_installed_encodings_and_shows_its_measured_factor(
    staff: Client, answered: Session
) -> None:
    model = ModelConfig.objects.get()
    model.calibrate(Measured(1.25, 3))
    page = reverse("admin:chat_modelconfig_change", args=[model.pk])
    form = staff.get(page).context["adminform"].form
    assert {"token_factor", "token_samples"}.isdisjoint(form.fields)
    given = {name: value for name, value in form.initial.items() if value is not None}
    refused = staff.post(page, given | {"tokenizer": "p50k_base"})
    assert refused.context["errors"] == [
        ["Unknown encoding 'p50k_base'. Installed: cl100k_base, o200k_base."]
    ]
    assert staff.post(page, given | {"tokenizer": "o200k_base"}).status_code == 302
    model.refresh_from_db()
    assert (model.tokenizer, model.token_factor, model.token_samples) == ("o200k_base", 1.25, 3)
    assert "1.25" in staff.get(page).content.decode()


def test_staff_have_the_token_factor_measured_anew(staff: Client, answered: Session) -> None:
    model, other = ModelConfig.objects.get(), ModelConfig.objects.create(name="other")
    assert model.calibrate(Measured(1.25, 3))
    assert other.calibrate(Measured(1.5, 2))
    chosen = {"action": "measure_tokens_anew", "_selected_action": [model.pk]}
    staff.post(reverse("admin:chat_modelconfig_changelist"), chosen)
    for each in (model, other):
        each.refresh_from_db()
    assert (model.measured_factor, other.measured_factor) == ((1.0, 0), (1.5, 2))


def test_there_is_at_most_one_system_prompt(staff: Client) -> None:
    add = reverse("admin:chat_systemprompt_add")
    assert staff.post(add, {"text": "Be brief."}).status_code == 302
    assert SystemPrompt.edited() == "Be brief."
    assert staff.get(add).status_code == 403


def test_one_model_is_used_by_default(staff: Client) -> None:
    first, second = (ModelConfig.objects.create(name=name) for name in ("first", "second"))
    first.make_default()
    staff.post(
        reverse("admin:chat_modelconfig_changelist"),
        {"action": "use_by_default", "_selected_action": [second.pk]},
    )
    assert list(ModelConfig.objects.filter(is_default=True)) == [second]


def test_lists_do_not_query_per_row(
    staff: Client, answered: Session, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        question = ChatMessage.objects.append(
            ChatMessage.objects.root_of(answered), role=Role.USER, text=f"question {number}"
        )
        Turn.objects.create(session=answered, user_message=question)
    for name in ("session", "chatmessage", "turn", "run", "toolcall", "agent", "compression"):
        with django_assert_max_num_queries(10):
            staff.get(reverse(f"admin:chat_{name}_changelist"))
