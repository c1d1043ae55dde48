"""Admins read everything and change nothing a user wrote."""

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from chat.models import ChatMessage, ModelConfig, Role, Run, Session, SystemPrompt, Turn

pytestmark = pytest.mark.django_db


@pytest.fixture
def answered() -> Session:
    """alice's session: a question and its finished answer."""
    alice = get_user_model().objects.create_user("alice")
    session = Session.objects.start(alice, title="Tides")
    question = ChatMessage.objects.append(session.root, role=Role.USER, text="Why <b>two</b> tides a day?")
    answer = ChatMessage.objects.append(question, role=Role.ASSISTANT, text="The Moon pulls both sides.")
    turn = Turn.objects.create(session=session, user_message=question)
    model = ModelConfig.objects.create(name="tide-model")
    Run.objects.create(
        turn=turn,
        message=answer,
        model_config=model,
        model=model.name,
        model_index=0,
        deadline=turn.created_at,
    )
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


@pytest.mark.parametrize("model", [Session, ChatMessage, Turn, Run], ids=lambda model: model.__name__)
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
        question = ChatMessage.objects.append(answered.root, role=Role.USER, text=f"question {number}")
        Turn.objects.create(session=answered, user_message=question)
    for name in ("session", "chatmessage", "turn", "run"):
        with django_assert_max_num_queries(10):
            staff.get(reverse(f"admin:chat_{name}_changelist"))
