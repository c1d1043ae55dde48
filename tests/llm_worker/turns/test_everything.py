"""The order of a request that contains every kind of content."""

from collections.abc import Callable
from typing import Any

import pytest

from chat.models import ChatMessage, Run, SystemPrompt
from chat.prompts import dynamic_context
from knowledge.models import File, Project
from tests import factories
from tests.llm_worker.outcomes import ended

CLOCK = {"call": {"name": "current_time", "arguments": {}}}
LETTERS = {
    "Help people.": "S",
    "Earlier": "SUM",
    "Be brief.": "CA",
    "levels.txt": "P",
    "It rains.": "D",
    "tides.txt": "F",
    "Name the Moon.": "R",
}
AGENT = {"name": "Tides", "prompt": "Be brief.", "reminder": "Name the Moon.", "tools": ["current_time"]}

Turn = Callable[..., dict[str, Any]]


@pytest.fixture
def alice(transactional_db, monkeypatch):
    monkeypatch.setattr(dynamic_context, "_PROVIDERS", {})
    SystemPrompt.edit("Help people.")
    return factories.create_user("alice")


@pytest.fixture
def file(alice):
    return File.objects.create(
        owner=alice, status="ready", token_count=5, name="tides.txt", text="Two a day."
    )


@pytest.fixture
def turn(alice, deliver, upstream) -> Turn:
    """Alice asks question number so and so in a session that has everything, and is answered."""
    factories.create_model("scripted", base_url=upstream.base_url, is_default=True)
    client = factories.api_client(alice)
    project = Project.objects.create(owner=alice, name="Tides")
    File.objects.create(
        owner=alice, status="ready", token_count=5, name="levels.txt", text="Low.", project=project
    )
    agent = client.post("/api/agents/", AGENT, format="json").json()["id"]
    body = {"agent": agent, "project": str(project.pk)}
    session = client.post("/api/sessions/", body, format="json").json()["id"]

    def turn(number: int, **more: object) -> dict[str, Any]:
        upstream.reply({"text": f"Answer {number}"}, contains=f"Question {number}")
        started = factories.send_turn(client, session, f"Question {number}", **more).json()
        run = Run.objects.get(pk=started["runs"][0]["id"])
        deliver(run).result(60)
        ended(run, "completed")
        return started

    return turn


def letter(message: dict[str, Any]) -> str:
    if message["role"] == "tool":
        return "TR"
    if message.get("tool_calls"):
        return "TC"
    content = message["content"]
    by_text = next((found for text, found in LETTERS.items() if text in content), None)
    return by_text or {"Q": "U", "A": "A"}[content[0]] + content.split()[1]


def test_every_kind_of_content_has_its_place_in_the_request(turn: Turn, upstream, file):
    covered = ChatMessage.objects.get(pk=turn(0)["runs"][0]["message"])
    turn(1)
    asked = ChatMessage.objects.get(pk=turn(2)["user_message"])
    factories.create_summary(asked, covered, "Earlier", 1)
    upstream.rules.clear()
    upstream.reply(CLOCK, times=1)
    turn(3, files=[str(file.pk)], additional_context="It rains.")
    first, second = upstream.requests[-2:]
    order = "S SUM U1 A1 U2 A2 CA P D F U3"
    assert " ".join(map(letter, first.messages)) == f"{order} R"
    assert " ".join(map(letter, second.messages)) == f"{order} TC TR R"
    assert second.messages[: len(first.messages) - 1] == first.messages[:-1]
