"""How a session's agent, project, files and additional context appear in the request."""

import json
from base64 import b64decode

import pytest
from django.core.files.base import ContentFile

from chat.models import Run, SystemPrompt
from chat.prompts import dynamic_context
from knowledge.models import File, Project
from knowledge.texts.reading import Reading
from tests import factories
from tests.llm_worker.outcomes import ended

BASE = "Help people."


@pytest.fixture
def alice(transactional_db, settings, tmp_path, monkeypatch):
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(dynamic_context, "_PROVIDERS", {})
    SystemPrompt.edit(BASE)
    return factories.create_user("alice")


@pytest.fixture
def client(alice, upstream):
    factories.create_model("scripted", base_url=upstream.base_url, is_default=True)
    return factories.api_client(alice)


@pytest.fixture
def talk(client, deliver, upstream):
    """Alice sends a message and it is answered; returns what the model saw."""

    def talk(session, text, **body):
        upstream.reply({"text": f"About {text}"}, contains=text)
        started = factories.send_turn(client, session, text, **body)
        assert started.status_code == 202, started.json()
        run = Run.objects.get(pk=started.json()["runs"][0]["id"])
        deliver(run).result(60)
        ended(run, "completed")
        return seen(upstream.requests[-1])

    return talk


def seen(request):
    """The texts in order, dates left out."""
    return [shown(message["content"]).partition("\n\n<sent_at>")[0] for message in request.messages]


def shown(content):
    return content if isinstance(content, str) else content[0]["text"]


def numbers(documents):
    shown = json.loads(documents.partition("\n")[2])["documents"]
    return [(one["document"], one["title"]) for one in shown]


def session_of(client, **fields):
    """With an agent of these fields."""
    agent = client.post("/api/agents/", {"name": "Tides", "prompt": "", **fields}, format="json").json()["id"]
    return client.post("/api/sessions/", {"agent": agent}, format="json").json()["id"]


def test_a_moving_prompt_precedes_the_newest_question_and_the_reminder_is_last(client, talk):
    session = session_of(client, prompt="Be brief.", reminder="Name the Moon.")
    assert talk(session, "One") == [BASE, "Be brief.", "One", "Name the Moon."]
    assert talk(session, "Two") == [BASE, "One", "About One", "Be brief.", "Two", "Name the Moon."]


@pytest.mark.parametrize(("prompt", "above"), [("Be brief.", ["Be brief."]), ("", [])])
def test_a_replacing_prompt_is_the_whole_system_prompt(client, talk, prompt, above):
    session = session_of(client, prompt=prompt, replaces_system_prompt=True)
    assert talk(session, "One") == [*above, "One"]


@pytest.mark.parametrize("layout", ["moving", "append_only"])
@pytest.mark.parametrize(("prompt", "above"), [("Be brief.", ["Be brief."]), ("", [])])
def test_a_replacing_agent_leaves_the_instructions_of_a_project_out(
    client, alice, talk, prompt, above, layout
):
    project = Project.objects.create(owner=alice, name="Tides", instructions="Name the Moon.")
    session = session_of(client, prompt=prompt, replaces_system_prompt=True, context_layout=layout)
    client.patch(f"/api/sessions/{session}/", {"project": str(project.pk)}, format="json")
    assert talk(session, "One") == [*above, "One"]


def test_append_only_requests_extend_each_other(client, talk):
    dynamic_context.register("day", lambda _: "Monday.")
    session = session_of(client, prompt="Be brief.", context_layout="append_only")
    first = talk(session, "One")
    second = talk(session, "Two")
    assert first == [BASE, "Be brief.", "Monday.", "One"]
    assert second == [*first, "About One", "Two"]
    dynamic_context._PROVIDERS["day"] = lambda _: "Tuesday."
    assert talk(session, "Three") == [*second, "About Two", "Tuesday.", "Three"]


def test_context_for_one_turn_is_absent_from_later_turns(client, talk):
    session = session_of(client, prompt="Be brief.", context_layout="append_only")
    *above, added, question = talk(session, "One", additional_context="It rains.")
    assert (above, question) == ([BASE, "Be brief."], "One")
    assert "It rains." in added
    assert talk(session, "Two") == [BASE, "Be brief.", "One", "About One", "Two"]


@pytest.mark.parametrize("change", [{"agent": None}, {"context_layout": "moving", "prompt": "Be kind."}])
def test_the_prompt_of_an_agent_ends_when_the_agent_changes(client, talk, change):
    session = session_of(client, prompt="Be brief.", context_layout="append_only")
    talk(session, "One")
    if "agent" in change:
        client.patch(f"/api/sessions/{session}/", change, format="json")
    else:
        agent = client.get(f"/api/sessions/{session}/").json()["agent"]
        client.patch(f"/api/agents/{agent}/", change, format="json")
    moving = [change["prompt"]] if "prompt" in change else []
    assert talk(session, "Two") == [BASE, "One", "About One", *moving, "Two"]


def test_files_precede_their_message_and_the_project_moves_to_the_newest(client, alice, talk):
    project = Project.objects.create(owner=alice, name="Tides", instructions="Name the Moon.")
    given = {"owner": alice, "status": "ready", "token_count": 5}
    File.objects.create(name="project.txt", text="Levels.", project=project, **given)
    file = File.objects.create(name="file.txt", text="Two tides a day.", **given)
    session = client.post("/api/sessions/", {"project": str(project.pk)}, format="json").json()["id"]
    system, instructions, documents, attached, question = talk(session, "One", files=[str(file.pk)])
    assert (instructions, question) == ("Name the Moon.", "One")
    assert system.startswith(BASE)
    assert '"document": 2' in documents
    assert "Levels." in documents
    assert '"document": 1' in attached
    assert talk(session, "Two") == [system, attached, "One", "About One", instructions, documents, "Two"]


def test_a_project_is_included_where_the_history_window_has_room_for_it(client, alice, talk):
    from chat.models import ModelConfig

    ModelConfig.objects.update(context_window=8000, max_output_tokens=2000)
    project = Project.objects.create(owner=alice, name="Tides")
    given = {"owner": alice, "status": "ready", "token_count": 2400}
    File.objects.create(name="levels.txt", text="Levels." + " word" * 2398, project=project, **given)
    roomy = session_of(client, prompt="Be brief.")
    # Half of what is free is reserved for the rounds of its tools.
    busy = session_of(client, prompt="Be brief.", tools=["current_time"])
    for session in (roomy, busy):
        client.patch(f"/api/sessions/{session}/", {"project": str(project.pk)}, format="json")
    assert any("Levels." in text for text in talk(roomy, "One"))
    assert not any("Levels." in text for text in talk(busy, "One"))


def test_the_project_of_an_append_only_agent_keeps_its_place(client, alice, talk):
    project = Project.objects.create(owner=alice, name="Tides")
    given = {"owner": alice, "status": "ready", "token_count": 5}
    File.objects.create(name="levels.txt", text="Levels.", project=project, **given)
    file = File.objects.create(name="file.txt", text="Two tides a day.", **given)
    session = session_of(client, prompt="Be brief.", context_layout="append_only")
    client.patch(f"/api/sessions/{session}/", {"project": str(project.pk)}, format="json")
    first = talk(session, "One")
    assert numbers(first[2]) == [(1, "levels.txt")]
    second = talk(session, "Two", files=[str(file.pk)])
    assert second[:-2] == [*first, "About One"]
    assert numbers(second[-2]) == [(2, "file.txt")]
    File.objects.create(name="more.txt", text="More.", project=project, **given)
    third = talk(session, "Three")
    assert third[:-2] == [*second, "About Two"]
    assert numbers(third[-2]) == [(3, "levels.txt"), (4, "more.txt")]
    assert talk(session, "Four") == [*third, "About Three", "Four"]
    client.patch(f"/api/sessions/{session}/", {"project": None}, format="json")
    assert not any("levels.txt" in text for text in talk(session, "Five"))


def test_a_model_with_vision_gets_the_image(client, alice, talk, upstream):
    from chat.models import ModelConfig

    ModelConfig.objects.update(supports_vision=True)
    moon = File.objects.create(
        owner=alice, name="moon.png", kind="image", content_type="image/png", status="ready",
        width_px=64, height_px=64, content=ContentFile(b"\x89PNG", name="moon.png"),
    )  # fmt: skip
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    talk(session, "One", files=[str(moon.pk)])
    _text, picture = upstream.requests[-1].messages[-1]["content"]
    assert picture["image_url"]["url"] == "data:image/png;base64,iVBORw=="


@pytest.mark.parametrize("sees", [True, False])
def test_a_model_that_sees_is_shown_the_pages_of_a_scan_and_told_which(client, alice, talk, upstream, sees):
    from chat.models import ModelConfig

    ModelConfig.objects.update(supports_vision=True)
    note = "[Pictures without text, perhaps scanned, of which no text follows: pages 1-2]"
    scan = File.objects.create(
        owner=alice,
        name="scan.pdf",
        status="ready",
        text=note,
        token_count=20,
        reading=Reading(unread_pages=2, shown_pages=2),
    )
    for page in (1, 2):
        File.objects.create(
            owner=alice, name=f"scan.pdf, page {page}", kind="image", content_type="image/jpeg", status="ready", page_of=scan, page=page,
            width_px=64, height_px=64, content=ContentFile(b"page %d" % page, name="page.jpg"),
        )  # fmt: skip
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    if not sees:
        ModelConfig.objects.create(name="sees", supports_vision=True)
        ModelConfig.objects.exclude(name="sees").update(supports_vision=False)
    talk(session, "When is low water?", files=[str(scan.pk)])
    *_, document, question = upstream.requests[-1].messages
    assert note in document["content"]
    if not sees:
        assert "page" not in question["content"]
        return
    text, *pictures = question["content"]
    assert "[Pages shown as pictures, in this order: scan.pdf, page 1; scan.pdf, page 2]" in text["text"]
    sent = [b64decode(picture["image_url"]["url"].partition(",")[2]) for picture in pictures]
    assert sent == [b"page 1", b"page 2"]


def test_the_cost_of_an_answer_is_part_of_the_usage_of_its_day(client, talk, upstream):
    from chat.models import ModelConfig

    ModelConfig.objects.update(prompt_price=2, cached_price=1, completion_price=10)
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 400}}
    upstream.reply({"text": "Two."}, {"usage": usage}, contains="How many", times=1)
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    talk(session, "How many tides a day?")
    (used,) = client.get("/api/usage/").json()
    assert (used["prompt_tokens"], used["cached_tokens"], used["completion_tokens"]) == (1000, 400, 100)
    assert used["cost"] == pytest.approx((600 * 2 + 400 * 1 + 100 * 10) / 1_000_000)
