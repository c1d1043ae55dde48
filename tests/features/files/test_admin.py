"""The admin of files and projects: what was extracted, why it failed, what belongs together, and who may see and do what."""

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.files.base import ContentFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation

from chat.infrastructure.redis_client import sync_redis
from chat.models import Session
from chat.protocol.errors import FILE_ERRORS
from chat.protocol.tasks import INGEST_QUEUE
from chat.runs.task_queue import queue_length
from features.files.admin import FAILURES
from knowledge.models import Chunk, Extraction, File, FileKind, Project
from tests import factories
from web.admin.read_only import admin_url

pytestmark = pytest.mark.django_db(transaction=True)

BEGINNING, REST = "Two <b>tides</b> a day. ", "Only at the end: sand."
TEXT = BEGINNING + "Low. " * 500 + REST


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
    sync_redis().flushdb()


@pytest.fixture
def project(transactional_db: None) -> Project:
    """Of alice, with a session and these instructions."""
    alice = factories.create_user("alice")
    project = Project.objects.create(owner=alice, name="Sea", instructions="Name the Moon.")
    Session.objects.start(alice, title="Two bulges", project=project)
    return project


@pytest.fixture
def file(project: Project) -> File:
    """Ready, in the project, attached to a question of the project's session."""
    file = file_of(project, "tides.txt", TEXT)
    client = factories.api_client(project.owner)
    session = Session.objects.get()
    factories.create_model("quick", is_default=True)
    sent = factories.send_turn(client, session.pk, "Why two?", files=[str(file.pk)])
    assert sent.status_code == 202, sent.json()
    return file


@pytest.fixture
def staff() -> Client:
    client = Client()
    client.force_login(factories.create_user("root", is_staff=True, is_superuser=True))
    return client


def file_of(project: Project, name: str, text: str = "", code: str = "") -> File:
    file = File.objects.create(
        owner=project.owner,
        project=project,
        name=name,
        size_bytes=2048,
        content=ContentFile(b"x", name="any"),
    )
    held = File.objects.claim(file.pk)
    assert held is not None
    if code:
        assert held.end_failed(code)
    else:
        assert held.end_ready(Extraction(FileKind.TEXT, "text/plain", text, len(text) // 4))
    file.refresh_from_db()
    return file


def page(client: Client, row: Any) -> str:
    response = client.get(admin_url(row))
    assert response.status_code == 200
    return str(response.content.decode())


def listed(client: Client, name: str, **query: str) -> list[Any]:
    url = reverse(f"admin:knowledge_{name}_changelist")
    return list(client.get(url, query).context["cl"].result_list)


def test_the_page_of_a_file_shows_the_beginning_of_its_text_harmless(staff: Client, file: File) -> None:
    shown = page(staff, file)
    assert "Two &lt;b&gt;tides&lt;/b&gt; a day." in shown
    assert f"The first 2000 of {len(TEXT)} characters." in shown
    assert REST not in shown


def test_the_text_needs_a_permission_of_its_own_and_showing_it_is_logged(file: File) -> None:
    watching = factories.staff_client("view_file")
    assert "tides.txt" in page(watching, file)
    assert "a day." not in page(watching, file)
    assert "permission to view extracted texts" in page(watching, file)
    assert LogEntry.objects.count() == 0
    reading = factories.staff_client("view_file", "view_file_text", name="carol")
    assert "a day." in page(reading, file)
    [entry] = LogEntry.objects.all()
    assert (entry.object_id, entry.get_change_message()) == (
        str(file.pk),
        f"Text shown: 2000 of {len(TEXT)} characters",
    )


def test_instructions_need_a_permission_of_their_own_and_showing_them_is_logged(project: Project) -> None:
    watching = factories.staff_client("view_project")
    assert "Name the Moon." not in page(watching, project)
    assert LogEntry.objects.count() == 0
    assert "Name the Moon." in page(
        factories.staff_client("view_project", "view_project_instructions", name="carol"), project
    )
    assert LogEntry.objects.get().get_change_message() == "Instructions shown: 14 characters"


def test_file_message_session_project_and_owner_lead_to_each_other(
    staff: Client, file: File, project: Project
) -> None:
    session = Session.objects.get()
    question = session.messages.get(role="user")
    of_file = page(staff, file)
    for row in (question, session, project):
        assert admin_url(row) in of_file
    assert reverse("admin:auth_user_change", args=[file.owner_id]) in of_file
    of_project = page(staff, project)
    assert admin_url(file) in of_project
    assert admin_url(session) in of_project
    assert admin_url(file) in page(staff, question)
    assert admin_url(project) in page(staff, session)


def test_what_staff_may_not_view_is_not_linked(file: File) -> None:
    shown = page(factories.staff_client("view_file"), file)
    assert "chatmessage" not in shown
    assert "/admin/chat/session/" not in shown


def test_a_failure_is_told_in_words(staff: Client, project: Project) -> None:
    failed = file_of(project, "a.pdf", code="document_encrypted")
    assert "The document is protected by a password." in page(staff, failed)
    with translation.override("en"):
        assert {code: str(text) for code, text in FAILURES.items()} == FILE_ERRORS


def test_failures_are_counted_by_code_and_filter_the_list(
    staff: Client, project: Project, file: File
) -> None:
    wrong = [file_of(project, f"{n}.pdf", code="document_corrupt") for n in range(2)]
    other = file_of(project, "c.pdf", code="document_limits")
    url = reverse("admin:knowledge_file_changelist")
    shown = staff.get(url).content.decode()
    assert shown.index("document_corrupt (2)") < shown.index("document_limits (1)")
    assert set(listed(staff, "file", error_code="document_corrupt")) == set(wrong)
    assert listed(staff, "file", status__exact="ready") == [file]
    assert listed(staff, "file", q="document_limits") == [other]


def test_files_and_projects_are_found_by_what_they_belong_to(
    staff: Client, file: File, project: Project
) -> None:
    session = Session.objects.get()
    question = session.messages.get(role="user")
    for words in (str(file.pk), str(project.pk), str(session.pk), str(question.pk), "alice", "tides"):
        assert listed(staff, "file", q=words) == [file], words
    for words in (str(project.pk), str(file.pk), str(session.pk), "alice", "sea"):
        assert listed(staff, "project", q=words) == [project], words
    for row in (file, project):
        answer = staff.get(reverse("admin:lookup"), {"q": f"WARNING ingest: file {row.pk}: took too long"})
        assert answer["Location"] == admin_url(row)


@pytest.mark.parametrize("code", ["", "document_corrupt"])
def test_a_file_is_extracted_again_once(staff: Client, project: Project, code: str) -> None:
    file = file_of(project, "tides.txt", "Low.", code)
    File.objects.filter(pk=file.pk).update(chunks_version=1)
    chunk = {"version": 1, "position": 0, "start": 0, "content_hash": b"1", "language": "simple"}
    Chunk.objects.create(file=file, text="Low.", **chunk)
    for _ in range(2):
        answer = staff.post(reverse("admin:knowledge_file_act", args=[file.pk, "extract_again"]))
        assert answer["Location"] == admin_url(file)
    file.refresh_from_db()
    assert (file.status, file.error_code, file.attempt) == ("processing", "", 1)
    # They are found until the end replaces them.
    assert Chunk.objects.found_in(File.objects.all()).count() == 1
    assert queue_length(INGEST_QUEUE) == 1
    messages = [entry.get_change_message() for entry in LogEntry.objects.order_by("action_time")]
    assert messages == ["Extract again: queued", "Extract again: it is being read, or has no content"]


def test_only_staff_who_may_change_files_have_them_extracted_again(file: File) -> None:
    url = reverse("admin:knowledge_file_act", args=[file.pk, "extract_again"])
    assert factories.staff_client("view_file", "view_file_text").post(url).status_code == 403
    file.refresh_from_db()
    assert file.status == "ready"
    assert factories.staff_client("view_file", "change_file", name="carol").post(url).status_code == 302
    file.refresh_from_db()
    assert file.status == "processing"


@pytest.mark.parametrize("action", ["change", "delete"])
@pytest.mark.parametrize("name", ["file", "project"])
def test_neither_is_changed_or_deleted_here(staff: Client, file: File, name: str, action: str) -> None:
    row = file if name == "file" else file.project
    assert row is not None
    url = reverse(f"admin:knowledge_{name}_{action}", args=[row.pk])
    assert staff.post(url, {"name": "x", "post": "yes"}).status_code == 403


@pytest.mark.parametrize("name", ["file", "project"])
def test_more_rows_take_no_more_queries(staff: Client, file: File, project: Project, name: str) -> None:
    addresses = [
        reverse(f"admin:knowledge_{name}_changelist"),
        admin_url(file if name == "file" else project),
    ]

    def count() -> list[int]:
        found = []
        for address in addresses:
            staff.get(address)
            with CaptureQueriesContext(connection) as queries:
                assert staff.get(address).status_code == 200
            assert not [one for one in queries if re.search(r'(?<!\()"knowledge_file"\."text"', one["sql"])]
            found.append(len(queries))
        return found

    before = count()
    client = factories.api_client(project.owner)
    for number in range(4):
        file_of(project, f"{number}.txt", "Low.")
        other = Session.objects.start(project.owner, title=f"{number}", project=project)
        factories.send_turn(client, other.pk, "And?", files=[str(file.pk)])
        Project.objects.create(owner=project.owner, name=f"{number}")
    assert count() == before


def test_numbers_of_a_project_are_listed(staff: Client, file: File, project: Project) -> None:
    file_of(project, "a.pdf", code="document_corrupt")
    [row] = listed(staff, "project")
    assert (row.file_count, row.token_sum, row.session_count) == (2, file.token_count, 1)
    assert timezone.now() >= row.updated_at


def test_staff_read_what_the_tables_are_about(staff: Client, file: File) -> None:
    for address in (reverse("admin:index"), reverse("admin:app_list", args=["knowledge"]), admin_url(file)):
        shown = staff.get(address).content.decode()
        assert "Files, projects and knowledge bases" in shown
        assert ">Knowledge<" not in shown


def test_the_pages_are_german(staff: Client, file: File, project: Project) -> None:
    with translation.override("de"):
        german = {"HTTP_ACCEPT_LANGUAGE": "de"}
        assert "Was ausgelesen wurde" in staff.get(admin_url(file), **german).content.decode()  # type: ignore[arg-type]
        assert "Anweisungen" in staff.get(admin_url(project), **german).content.decode()  # type: ignore[arg-type]
