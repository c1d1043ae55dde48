"""What an answer cites is saved with its text: nothing is lost when the run ends without its worker. From recorded requests."""

from typing import Any

import pytest

from chat.infrastructure.redis_client import sync_redis
from chat.log.progress import read_progress
from chat.models import CitedDocument, Run
from chat.protocol.errors import run_error
from chat.protocol.states import Status
from chat.runs.orphans import end_orphan
from knowledge.models import File, Project
from tests import factories


@pytest.fixture
def alice(transactional_db: None, upstream: Any) -> Any:
    factories.create_model("scripted", base_url=upstream.base_url, is_default=True)
    return factories.create_user("alice")


def file_of(owner: Any, name: str, **fields: Any) -> str:
    text = f"About {name}."
    return str(
        File.objects.create(owner=owner, name=name, text=text, status="ready", token_count=5, **fields).pk
    )


def started_run(alice: Any) -> Run:
    """Its question has a file (1), its project has two (2, 3)."""
    client = factories.api_client(alice)
    project = Project.objects.create(owner=alice, name="Tides")
    for name in ("levels.txt", "sand.txt"):
        file_of(alice, name, project=project)
    session = client.post("/api/sessions/", {"project": str(project.pk)}, format="json").json()["id"]
    sent = factories.send_turn(client, session, "One", files=[file_of(alice, "table.txt")])
    return Run.objects.for_work().get(pk=sent.json()["runs"][0]["id"])


def wait_until_saved(upstream: Any, run: Run, text: str) -> Run:
    found = Run.objects.for_work().filter(pk=run.pk, message__text=text)
    return upstream.wait_for(found.first)  # type: ignore[no-any-return]


def cited(run: Run) -> list[tuple[int, str]]:
    rows = CitedDocument.objects.filter(message=run.message_id).values_list("number", "title")
    return list(rows)


def test_a_run_that_the_sweeper_ends_keeps_its_citations_of_files_and_of_the_project(
    alice: Any, deliver: Any, upstream: Any
) -> None:
    upstream.reply({"text": "Low [1], and [3] says so."}, {"hang": True})
    run = started_run(alice)
    lost = deliver(run)
    held = wait_until_saved(upstream, run, "Low [1], and [3] says so.")
    assert end_orphan(held, Status.FAILED, run_error("worker_lost"))
    lost.result(60)
    assert cited(run) == [(1, "table.txt"), (3, "sand.txt")]
    client = factories.api_client(alice)
    message = client.get(f"/api/sessions/{run.turn.session_id}/messages/").json()[1]
    assert [one["number"] for one in message["citations"]] == [1, 3]


def test_readers_without_the_log_see_what_is_cited_so_far(alice: Any, deliver: Any, upstream: Any) -> None:
    upstream.reply({"text": "Low [2]."}, {"wait": "the look"}, {"text": " So."})
    run = started_run(alice)
    future = deliver(run)
    held = wait_until_saved(upstream, run, "Low [2].")
    sync_redis().flushdb()
    sources = read_progress(held, calls=[]).shown.citations
    assert [source["title"] for source in sources] == ["levels.txt"]
    upstream.release("the look")
    future.result(60)
    assert cited(run) == [(2, "levels.txt")]


def test_an_attempt_that_starts_over_leaves_no_citation_of_the_one_before(
    alice: Any, deliver: Any, upstream: Any
) -> None:
    upstream.reply({"text": "Low [1]."}, {"hang": True}, times=1)
    upstream.reply({"text": "All of it [2]."}, {"wait": "the look"}, {"text": " So."})
    run = started_run(alice)
    lost = deliver(run)
    wait_until_saved(upstream, run, "Low [1].")
    Run.objects.filter(pk=run.pk).update(status=Status.QUEUED, owner=None, lease_until=None)
    lost.result(60)
    future = deliver(run)
    held = wait_until_saved(upstream, run, "All of it [2].")
    sync_redis().flushdb()
    assert [source["number"] for source in read_progress(held, calls=[]).shown.citations] == [2]
    upstream.release("the look")
    future.result(60)
    run.refresh_from_db()
    assert run.status == "completed"
    assert cited(run) == [(2, "levels.txt")]
