"""The start page of the admin: first steps until they are done, and the state of the installation."""

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import ModelConfig
from knowledge.models import KnowledgeBase
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(factories.create_user("root", is_staff=True, is_superuser=True))
    return client


def steps(client: Client) -> list[tuple[str, bool]]:
    shown = client.get(reverse("admin:index")).context["first_steps"]
    return [(str(step.name), step.is_done) for step in shown]


def test_first_steps_are_shown_until_all_of_them_are_done(staff: Client) -> None:
    ModelConfig.objects.all().delete()
    factories.create_model("demo", is_demo=True)
    assert steps(staff) == [
        ("Connect a model", False),
        ("Invite people", False),
        ("Make a knowledge base", False),
    ]
    factories.create_model("real")
    alice = factories.create_user("alice")
    assert steps(staff) == [
        ("Connect a model", True),
        ("Invite people", True),
        ("Make a knowledge base", False),
    ]
    KnowledgeBase.objects.create(name="Tides", owner=alice)
    assert steps(staff) == []


def test_staff_are_asked_for_what_they_may_do_alone() -> None:
    ModelConfig.objects.all().delete()
    names = [name for name, _ in steps(factories.staff_client("view_session"))]
    assert names == ["Make a knowledge base"]


def test_the_state_is_counted_for_those_who_may_see_runs(staff: Client) -> None:
    client, session = factories.session_of_alice()
    factories.send_turn(client, session)
    figures = {str(one.label): one.value for one in staff.get(reverse("admin:index")).context["figures"]}
    assert figures["Answers that wait"] == 1
    assert figures["Answers being written"] == 0
    assert "figures" not in factories.staff_client("view_session").get(reverse("admin:index")).context


def test_what_is_needed_often_stands_first(staff: Client) -> None:
    apps = staff.get(reverse("admin:index")).context["app_list"]
    names = [entry["object_name"] for entry in apps[0]["models"]]
    assert names[:7] == ["usage", "workers", "Provider", "ModelConfig", "Invitation", "Agent", "Suggestion"]
