"""What models are shown of a project beside its texts: pictures, and the names of files that are still being read."""

import json
from typing import Any

import pytest
from django.core.files.base import ContentFile

from chat.models import ModelConfig, Run, SystemPrompt
from chat.prompts import dynamic_context
from knowledge.models import File, Project
from tests import factories
from tests.llm_worker.outcomes import ended

LEAD = "Here are some documents provided for context"
PIXELS = b"\x89PNG"
URL = "data:image/png;base64,iVBORw=="


@pytest.fixture
def alice(transactional_db: None, settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(dynamic_context, "_PROVIDERS", {})
    SystemPrompt.edit("Help people.")
    return factories.create_user("alice")


@pytest.fixture
def client(alice: Any, upstream: Any) -> Any:
    factories.create_model("blind", base_url=upstream.base_url, is_default=True)
    factories.create_model("sees", base_url=upstream.base_url, supports_vision=True)
    return factories.api_client(alice)


@pytest.fixture
def project(alice: Any) -> Project:
    return Project.objects.create(owner=alice, name="Tides")


def add_text(project: Project, name: str, text: str, tokens: int = 5, **fields: Any) -> File:
    given = {"owner": project.owner, "status": "ready", "token_count": tokens, **fields}
    return File.objects.create(project=project, name=name, text=text, **given)


def add_picture(project: Project, name: str, side_px: int = 64) -> File:
    return File.objects.create(
        owner=project.owner, project=project, name=name, kind="image", content_type="image/png", status="ready",
        width_px=side_px, height_px=side_px, content=ContentFile(PIXELS, name=name),
    )  # fmt: skip


@pytest.fixture
def ask(client: Any, deliver: Any, upstream: Any, project: Project) -> Any:
    """What a model was sent between the system prompt and the question, in a new session, or the one with this agent."""
    sessions: dict[str, str] = {}

    def ask(model: str, agent: str | None = None) -> list[Any]:
        session = sessions.get(agent or "")
        if not session:
            body = {"project": str(project.pk), **({"agent": agent} if agent else {})}
            session = client.post("/api/sessions/", body, format="json").json()["id"]
        if agent:
            sessions[agent] = session
        upstream.reply({"text": "Yes."})
        started = factories.send_turn(client, session, "One", models=[model]).json()
        run = Run.objects.get(pk=started["runs"][0]["id"])
        deliver(run).result(60)
        ended(run, "completed")
        sent = [message["content"] for message in upstream.requests[-1].messages]
        return [content for content in sent[1:] if not str(content).startswith("One")]

    return ask


def text_of(content: Any) -> str:
    return content if isinstance(content, str) else str(content[0]["text"])


def pictures_of(content: Any) -> list[str]:
    return [] if isinstance(content, str) else [part["image_url"]["url"] for part in content[1:]]


def json_of(content: Any) -> dict[str, Any]:
    lead, _, found = text_of(content).partition("\n")
    assert lead.startswith(LEAD)
    documents: dict[str, Any] = json.loads(found)
    return documents


def test_a_model_that_sees_is_shown_the_pictures_with_the_texts(ask: Any, project: Project) -> None:
    add_text(project, "levels.txt", "Low.")
    for name in ("moon.png", "sea.png"):
        add_picture(project, name)
    [content] = ask("sees")
    assert pictures_of(content) == [URL, URL]
    shown = json_of(content)
    assert [document["title"] for document in shown["documents"]] == ["levels.txt"]
    assert shown["note"].endswith("in this order: moon.png, sea.png.")


def test_a_model_that_sees_none_is_told_their_names(ask: Any, project: Project) -> None:
    add_text(project, "levels.txt", "Low.")
    add_picture(project, "moon.png")
    [content] = ask("blind")
    assert pictures_of(content) == []
    assert json_of(content)["note"].endswith("this model cannot see images: moon.png.")


def test_pictures_alone_need_no_documents(ask: Any, project: Project) -> None:
    add_picture(project, "moon.png")
    [content] = ask("sees")
    assert pictures_of(content) == [URL]
    assert "moon.png" in text_of(content)
    assert LEAD not in text_of(content)


def test_files_that_are_still_being_read_are_named_until_they_are_ready(ask: Any, project: Project) -> None:
    later = add_text(project, "later.pdf", "", 0, status="processing")
    [content] = ask("blind")
    assert content.endswith("not readable yet: later.pdf.")
    assert LEAD not in content
    add_text(project, "levels.txt", "Low.")
    [content] = ask("blind")
    assert json_of(content)["note"].endswith("not readable yet: later.pdf.")
    File.objects.filter(pk=later.pk).update(status="ready", text="High.", token_count=2)
    [content] = ask("blind")
    assert [document["title"] for document in json_of(content)["documents"]] == ["later.pdf", "levels.txt"]
    assert "note" not in json_of(content)


def test_pictures_never_displace_texts_and_are_all_shown_or_none(ask: Any, project: Project) -> None:
    ModelConfig.objects.filter(name="sees").update(context_window=20_000, max_output_tokens=1_000)
    add_text(project, "levels.txt", "Low.")
    for name in ("moon.png", "sea.png"):
        add_picture(project, name, side_px=1_024)  # 4,128 tokens each: both fit
    [content] = ask("sees")
    assert len(pictures_of(content)) == 2
    add_picture(project, "sand.png", side_px=1_024)
    [content] = ask("sees")
    assert pictures_of(content) == []
    assert [document["title"] for document in json_of(content)["documents"]] == ["levels.txt"]
    assert json_of(content)["note"].endswith("too large for this model: moon.png, sea.png, sand.png.")


def test_pictures_are_shown_beside_texts_that_are_searched(ask: Any, project: Project, upstream: Any) -> None:
    add_text(project, "levels.txt", "Low.", 10**6)
    add_picture(project, "moon.png")
    [content] = ask("sees")
    assert pictures_of(content) == [URL]
    assert LEAD not in text_of(content)
    assert "search_project" in [tool["function"]["name"] for tool in upstream.requests[-1].body["tools"]]


def test_a_picture_that_is_gone_is_named(ask: Any, project: Project) -> None:
    moon = add_picture(project, "moon.png")
    add_picture(project, "sea.png")
    moon.content.storage.delete(str(moon.content.name))
    [content] = ask("sees")
    assert pictures_of(content) == [URL]
    assert text_of(content).endswith("in this order: sea.png. Its content cannot be read: moon.png.")


def test_stored_documents_keep_their_place_and_pictures_move(ask: Any, client: Any, project: Project) -> None:
    add_text(project, "levels.txt", "Low.")
    add_picture(project, "moon.png")
    body = {"name": "Tides", "prompt": "Be brief.", "context_layout": "append_only"}
    agent = client.post("/api/agents/", body, format="json").json()["id"]
    ask("sees", agent)
    prompt, documents, answer, pictures = ask("sees", agent)
    assert (prompt, answer) == ("Be brief.", "Yes.")
    assert "note" not in json_of(documents)
    assert (pictures_of(documents), pictures_of(pictures)) == ([], [URL])
