"""What refers to a project or an agent that is deleted at the same moment."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from rest_framework.test import APIClient

from chat.models import Agent, Session
from chat.sessions.settings import edit_session
from knowledge.models import File, Project
from tests import factories
from tests.concurrency import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)
LIMIT_S = 20
REFERENCED = {"project": Project.objects.create, "agent": Agent.objects.create}


@pytest.mark.parametrize("noun", ["project", "agent"])
@pytest.mark.parametrize("method", ["post", "patch"])
def test_a_session_is_told_that_what_it_was_to_have_is_gone(
    client: APIClient, alice: Any, session: str, noun: str, method: str
) -> None:
    row = REFERENCED[noun](owner=alice, name="Tides")
    url = "/api/sessions/" if method == "post" else f"/api/sessions/{session}/"
    ask, fields = getattr(factories.api_client(alice), method), {noun: str(row.pk)}
    response = while_uncommitted(row.delete, lambda: ask(url, fields, format="json"))
    assert (response.status_code, response.json()["code"]) == (404, f"{noun}_not_found")
    assert [one[noun] for one in client.get("/api/sessions/").json()["results"]] == [None]


def test_an_upload_is_told_that_its_project_is_gone(
    client: APIClient, alice: Any, settings: Any, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path
    project = Project.objects.create(owner=alice, name="Tides")
    form = {"file": SimpleUploadedFile("tides.txt", b"Two tides a day."), "project": str(project.pk)}

    def upload() -> Any:
        return factories.api_client(alice).post("/api/files/", form)

    response = while_uncommitted(project.delete, upload)
    assert (response.status_code, response.json()["code"]) == (404, "project_not_found")
    assert client.get("/api/files/").json()["results"] == []


@pytest.mark.parametrize("noun", ["project", "agent"])
def test_a_deletion_waits_for_a_session_that_joins(
    client: APIClient, alice: Any, session: str, noun: str
) -> None:
    row = REFERENCED[noun](owner=alice, name="Tides")
    joining = Session.objects.get(pk=session)
    response = while_uncommitted(
        lambda: edit_session(joining, {noun: row}),
        lambda: factories.api_client(alice).delete(f"/api/{noun}s/{row.pk}/"),
    )
    assert response.status_code == 204
    assert client.get(f"/api/sessions/{session}/").json()[noun] is None


def test_a_deletion_waits_for_a_file_that_joins(client: APIClient, alice: Any) -> None:
    project = Project.objects.create(owner=alice, name="Tides")
    file = File.objects.create(
        owner=alice, name="tides.txt", status="ready", text="Two.", token_count=1, size_bytes=4
    )
    response = while_uncommitted(
        lambda: file.join(project),
        lambda: factories.api_client(alice).delete(f"/api/projects/{project.pk}/"),
    )
    assert response.status_code == 204
    assert client.get(f"/api/files/{file.pk}/").json()["project"] is None


def while_uncommitted(change: Callable[[], Any], request: Callable[[], Any]) -> Any:
    """Make the change, commit it once the request waits for it, and return what the request returns."""
    is_made = threading.Event()

    def commit_when_awaited() -> None:
        with transaction.atomic():
            change()
            is_made.set()
            limit = time.monotonic() + LIMIT_S
            while not is_awaited():
                assert time.monotonic() < limit, "the request does not wait"
                time.sleep(0.01)

    def request_when_made() -> Any:
        assert is_made.wait(LIMIT_S)
        return request()

    return run_concurrently(commit_when_awaited, request_when_made)[1]


def is_awaited() -> bool:
    """Whether another connection waits for a lock of this one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
        )
        return bool(cursor.fetchone()[0])
