"""Files of messages and projects, loaded as the values that models see."""

import logging
from typing import Any

import pytest
from django.core.files.base import ContentFile

from chat.loaders import attachments
from chat.models import ChatMessage, MessageFile, Role, Session
from chat.transcript.entries import Document, Image, TextFile
from knowledge.models import File, Project
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(settings: Any, tmp_path: Any) -> Any:
    settings.MEDIA_ROOT = tmp_path
    return factories.create_user("alice")


@pytest.fixture
def question(alice: Any) -> ChatMessage:
    return ChatMessage.objects.append(
        ChatMessage.objects.root_of(Session.objects.start(alice)), role=Role.USER, text="Why?"
    )


def text(owner: Any, name: str, **fields: Any) -> File:
    given = {"status": "ready", "text": f"About {name}", "token_count": 3, "size_bytes": 20}
    return File.objects.create(owner=owner, name=name, **given | fields)


def picture(owner: Any) -> File:
    return File.objects.create(
        owner=owner,
        name="moon.png",
        kind="image",
        content_type="image/png",
        status="ready",
        width_px=64,
        height_px=32,
        content=ContentFile(b"\x89PNG", name="moon.png"),
    )


def expected_text(file: File, number: int) -> TextFile:
    pk = str(file.pk)
    return TextFile(pk, file.name, file.size_bytes, Document(number, pk, file.name, file.text), 3)


def attach(question: ChatMessage, *files: tuple[File, int | None]) -> None:
    for position, (file, number) in enumerate(files):
        MessageFile.objects.create(message=question, file=file, position=position, number=number)


def test_texts_have_their_numbers_and_images_their_bytes(alice: Any, question: Any) -> None:
    tides, moon, levels = text(alice, "tides.txt"), picture(alice), text(alice, "levels.csv", kind="tabular")
    attach(question, (levels, 3), (moon, None), (tides, 4))
    found = attachments.load_attachments([question.pk, question.parent_id])
    assert list(found) == [question.pk]
    assert found[question.pk].files == [expected_text(levels, 3), expected_text(tides, 4)]
    assert found[question.pk].images == [
        Image(str(moon.pk), "moon.png", "data:image/png;base64,iVBORw==", 64, 32)
    ]


def test_an_image_without_content_has_no_address(
    alice: Any, question: Any, caplog: pytest.LogCaptureFixture
) -> None:
    moon = picture(alice)
    attach(question, (moon, None))
    moon.content.storage.delete(moon.content.name)
    with caplog.at_level(logging.WARNING):
        [image] = attachments.load_attachments([question.pk])[question.pk].images
    assert image == Image(str(moon.pk), "moon.png", "", 0, 0)
    assert str(moon.pk) in caplog.text


def test_readable_texts_of_a_project_are_loaded_oldest_first(alice: Any) -> None:
    project = Project.objects.create(owner=alice, name="Tides")
    first, second = (text(alice, name, project=project) for name in ("a.txt", "b.txt"))
    text(alice, "c.txt", project=project, status="processing")
    text(alice, "d.txt")
    moon = picture(alice)
    File.objects.filter(pk=moon.pk).update(project=project)
    assert attachments.load_project_files(project.pk) == [expected_text(first, 0), expected_text(second, 0)]


def test_texts_of_a_project_are_counted_in_the_encoding_that_is_asked_for(alice: Any) -> None:
    project = Project.objects.create(owner=alice, name="Tides")
    text(alice, "a.txt", project=project, tokens_by_encoding={"o200k_base": 2})
    text(alice, "b.txt", project=project)
    for encoding, counts in (("o200k_base", [2, 3]), ("cl100k_base", [3, 3]), ("", [3, 3])):
        files = attachments.load_project_files(project.pk, encoding)
        assert [file.token_count for file in files] == counts
        assert attachments.measure_project_files(project.pk, encoding) == (2, sum(counts), 0)


def test_what_a_project_has_beside_its_texts_is_counted_and_loaded_without_texts(alice: Any) -> None:
    project = Project.objects.create(owner=alice, name="Tides")
    moon = picture(alice)
    File.objects.filter(pk=moon.pk).update(project=project)
    text(alice, "later.pdf", project=project, status="processing", text="What was read before.")
    text(alice, "a.txt", project=project)
    text(alice, "b.pdf", project=project, status="failed", error_code="document_corrupt")
    assert attachments.measure_project_files(project.pk) == (1, 3, 2)
    found = attachments.load_other_project_files(project.pk)
    assert found[0].tokens == 4 * 2 + 32
    assert [(one.name, one.is_picture, one.file.text) for one in found] == [
        ("moon.png", True, ""), ("later.pdf", False, "")
    ]  # fmt: skip


def test_the_prompt_of_a_session_is_its_agents_or_else_its_projects(alice: Any) -> None:
    from chat.models import Agent

    project = Project.objects.create(owner=alice, name="Tides", instructions=" Name the Moon. ")
    agent = Agent.objects.create(owner=alice, name="Tides", prompt="Be brief.\n")
    silent = Agent.objects.create(owner=alice, name="Silent")
    prompts = [
        Session.objects.start(alice, **fields).own_prompt()
        for fields in ({}, {"project": project}, {"agent": agent, "project": project},
                       {"agent": silent, "project": project}, {"agent": agent})
    ]  # fmt: skip
    assert prompts == ["", "Name the Moon.", "Be brief.", "Name the Moon.", "Be brief."]
