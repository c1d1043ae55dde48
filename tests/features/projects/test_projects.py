"""Projects: keeping them, their files, and the sessions that belong to them."""

import math
import uuid
from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.models import Session
from chat.transcript.tokens import PROJECT_SHARE
from ingest.vectors import compute_waiting
from knowledge.models import File, Project
from tests import factories
from tests.concurrency import run_concurrently
from tests.indexed import add_indexed

PROJECTS = "/api/projects/"
WHOLE = {"name": "Tides", "instructions": "Name the Moon."}


def file_of(owner: Any, name: str = "tides.txt", **fields: Any) -> str:
    given = {"status": "ready", "text": "Two tides a day.", "token_count": 5, "size_bytes": 16}
    return str(File.objects.create(owner=owner, name=name, **given | fields).pk)


def post(client: APIClient, url: str, body: dict[str, Any]) -> Any:
    return client.post(url, body, format="json")


def create(client: APIClient, **fields: Any) -> str:
    response = post(client, PROJECTS, WHOLE | fields)
    assert response.status_code == 201, response.json()
    return str(response.json()["id"])


def files_of(client: APIClient, project: str) -> list[str]:
    return [file["id"] for file in client.get(f"{PROJECTS}{project}/").json()["files"]]


@pytest.mark.django_db(transaction=True)  # the index of vectors is created when the first one is computed
@pytest.mark.usefixtures("embeddings_upstream")
def test_a_project_tells_how_many_of_its_passages_still_have_no_vector(client: APIClient, alice: Any) -> None:
    project, other = (Project.objects.create(owner=alice, name=name) for name in ("Tides", "Bread"))
    add_indexed(project, "tides.txt", "Two tides a day.")
    add_indexed(project, "moon.txt", "The moon pulls the sea.")

    def indexing(pk: Any) -> Any:
        return client.get(f"{PROJECTS}{pk}/").json()["indexing"]

    assert indexing(project.pk) == {"chunks": 2, "waiting": 2}
    assert indexing(other.pk) == {"chunks": 0, "waiting": 0}
    compute_waiting()
    assert indexing(project.pk) == {"chunks": 2, "waiting": 0}
    assert [one["indexing"]["waiting"] for one in client.get(PROJECTS).json()] == [0, 0]


class TestKeepingProjects:
    def test_a_new_project_is_read_as_it_was_written(self, client: APIClient, alice: Any) -> None:
        file = file_of(alice)
        response = post(client, PROJECTS, WHOLE | {"files": [file]})
        body = response.json()
        assert response.status_code == 201
        assert {name: body[name] for name in WHOLE} == WHOLE
        [shown] = body["files"]
        assert shown == client.get(f"/api/files/{file}/").json()
        assert (
            shown.items()
            >= {
                "id": file,
                "name": "tides.txt",
                "content_type": "text/plain",
                "size": 16,
                "status": "ready",
                "token_count": 5,
                "kind": "text",
                "project": body["id"],
            }.items()
        )
        assert client.get(f"{PROJECTS}{body['id']}/").json() == body
        assert client.get(PROJECTS).json() == [body]

    def test_a_name_is_enough(self, client: APIClient) -> None:
        body = post(client, PROJECTS, {"name": "Tides"}).json()
        assert (body["instructions"], body["files"]) == ("", [])

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"name": ""}, "name"),
            ({"name": " \n"}, "name"),
            ({"name": "x" * 201}, "name"),
            ({"instructions": "x" * 100_001}, "instructions"),
            ({"instructions": None}, "instructions"),
            ({"files": "all"}, "files"),
            ({"files": ["mine"]}, "files.0"),
            ({"files": [str(uuid.UUID(int=number)) for number in range(1001)]}, "files"),
            ({"owner": "bob"}, "owner"),
        ],
    )
    def test_what_is_not_accepted_changes_nothing(
        self, client: APIClient, change: dict[str, Any], field: str
    ) -> None:
        project = create(client)
        before = client.get(f"{PROJECTS}{project}/").json()
        for response in (
            client.patch(f"{PROJECTS}{project}/", change, format="json"),
            post(client, PROJECTS, WHOLE | change),
        ):
            assert (response.status_code, response.json()["field"]) == (400, field), response.json()
        assert client.get(PROJECTS).json() == [before]

    def test_a_patch_changes_what_it_names_and_a_put_everything(self, client: APIClient, alice: Any) -> None:
        file = file_of(alice)
        project = create(client, files=[file])
        client.patch(f"{PROJECTS}{project}/", {"name": "Seas"}, format="json")
        body = client.get(f"{PROJECTS}{project}/").json()
        assert (body["name"], body["instructions"], files_of(client, project)) == (
            "Seas",
            "Name the Moon.",
            [file],
        )
        client.put(f"{PROJECTS}{project}/", {"name": "Moons"}, format="json")
        body = client.get(f"{PROJECTS}{project}/").json()
        assert (body["name"], body["instructions"], body["files"]) == ("Moons", "", [])

    def test_the_latest_changed_is_listed_first_in_pages(self, client: APIClient) -> None:
        first, second, third = (create(client, name=name) for name in ("One", "Two", "Three"))
        client.patch(f"{PROJECTS}{first}/", {"instructions": ""}, format="json")
        assert [one["id"] for one in client.get(PROJECTS).json()] == [first, third, second]
        page = client.get(PROJECTS, {"limit": 2}).json()
        rest = client.get(PROJECTS, {"limit": 2, "before": page[-1]["id"]}).json()
        assert [one["id"] for one in page + rest] == [first, third, second]

    def test_it_says_how_large_its_texts_are_and_for_which_models_they_fit(
        self, client: APIClient, alice: Any
    ) -> None:
        tiny = factories.create_model("tiny", context_window=8_000, max_output_tokens=1_000)
        least_too_large = math.ceil(PROJECT_SHARE * tiny.request_tokens)
        half = file_of(alice, token_count=least_too_large - 1)
        unread = [
            file_of(alice, "sea.png", kind="image", width_px=30, height_px=30, token_count=900),
            file_of(alice, "sea.pdf", status="processing", text="", token_count=0),
        ]
        project = create(client, instructions="", files=[half, *unread])
        body = client.get(f"{PROJECTS}{project}/").json()
        assert body["token_count"] == least_too_large - 1
        assert body["fits"] == {"quick": True, "deep": True, "tiny": True}
        client.post(f"{PROJECTS}{project}/files/", {"file": file_of(alice, token_count=1)}, format="json")
        body = client.get(f"{PROJECTS}{project}/").json()
        assert (body["token_count"], body["fits"]["quick"], body["fits"]["tiny"]) == (
            least_too_large,
            True,
            False,
        )

    def test_its_texts_are_counted_in_the_encoding_of_each_model(self, client: APIClient, alice: Any) -> None:
        factories.create_model("counted", tokenizer="o200k_base", context_window=32_000)
        factories.create_model("estimated", context_window=32_000)
        file = file_of(alice, token_count=60_000, tokens_by_encoding={"o200k_base": 8_000})
        fits = client.get(f"{PROJECTS}{create(client, files=[file])}/").json()["fits"]
        assert (fits["counted"], fits["estimated"]) == (True, False)

    def test_instructions_leave_less_room_for_texts(self, client: APIClient, alice: Any) -> None:
        tiny = factories.create_model("tiny", context_window=8_000, max_output_tokens=1_000)
        file = file_of(alice, token_count=int(PROJECT_SHARE * tiny.request_tokens) - 1)
        project = create(client, instructions="", files=[file])
        assert client.get(f"{PROJECTS}{project}/").json()["fits"]["tiny"]
        client.patch(f"{PROJECTS}{project}/", {"instructions": "Name the Moon. " * 100}, format="json")
        assert not client.get(f"{PROJECTS}{project}/").json()["fits"]["tiny"]

    def test_nobody_keeps_more_than_allowed(self, client: APIClient, settings: Any) -> None:
        settings.MAX_PROJECTS_PER_USER = 1
        create(client)
        refused = post(client, PROJECTS, WHOLE)
        assert (refused.status_code, refused.json()["code"]) == (409, "too_many_projects")
        rows = {row["code"]: (row["used"], row["max"]) for row in client.get("/api/usage/limits/").json()}
        assert rows["projects"] == (1, 1)

    def test_deleting_one_leaves_its_sessions_and_files(self, client: APIClient, alice: Any) -> None:
        file = file_of(alice)
        project = create(client, files=[file])
        session = post(client, "/api/sessions/", {"project": project}).json()["id"]
        assert client.delete(f"{PROJECTS}{project}/").status_code == 204
        assert client.get(f"{PROJECTS}{project}/").status_code == 404
        assert client.get(f"/api/sessions/{session}/").json()["project"] is None
        assert File.objects.get(pk=file).project is None


class TestFilesOfAProject:
    def test_one_is_added_and_taken_out_again(self, client: APIClient, alice: Any) -> None:
        project, file = create(client), file_of(alice)
        added = post(client, f"{PROJECTS}{project}/files/", {"file": file})
        assert (added.status_code, added.json()["id"], added.json()["project"]) == (201, file, project)
        assert files_of(client, project) == [file]
        assert post(client, f"{PROJECTS}{project}/files/", {"file": file}).status_code == 200
        assert client.delete(f"{PROJECTS}{project}/files/{file}/").status_code == 204
        assert files_of(client, project) == []
        again = client.delete(f"{PROJECTS}{project}/files/{file}/")
        assert (again.status_code, again.json()["code"]) == (404, "file_not_found")
        assert File.objects.filter(pk=file).exists()

    def test_a_file_belongs_to_one_project(self, client: APIClient, alice: Any) -> None:
        file = file_of(alice)
        first, second = create(client, files=[file]), create(client)
        assert post(client, f"{PROJECTS}{second}/files/", {"file": file}).status_code == 201
        assert (files_of(client, first), files_of(client, second)) == ([], [file])

    def test_those_that_are_not_ready_belong_to_it_as_well(self, client: APIClient, alice: Any) -> None:
        project = create(client)
        broken = file_of(alice, status="failed", error_code="document_corrupt", token_count=0)
        added = post(client, f"{PROJECTS}{project}/files/", {"file": broken}).json()
        assert (added["status"], added["error"]["code"]) == ("failed", "document_corrupt")
        assert added["error"]["message"]

    def test_files_of_others_are_not_found_and_stay_where_they_are(
        self, client: APIClient, alice: Any
    ) -> None:
        theirs = file_of(factories.create_user("bob"), "bread.txt")
        project, own = create(client), file_of(alice)
        for response in (
            post(client, PROJECTS, WHOLE | {"files": [own, theirs]}),
            client.patch(f"{PROJECTS}{project}/", {"files": [own, theirs]}, format="json"),
            post(client, f"{PROJECTS}{project}/files/", {"file": theirs}),
            client.delete(f"{PROJECTS}{project}/files/{theirs}/"),
        ):
            assert (response.status_code, response.json()["code"]) == (404, "file_not_found")
            assert theirs not in response.content.decode()
        assert Project.objects.count() == 1
        assert not File.objects.filter(project__isnull=False).exists()

    def test_files_named_twice_count_once(self, client: APIClient, alice: Any) -> None:
        file = file_of(alice)
        assert files_of(client, create(client, files=[file, file])) == [file]


@pytest.mark.django_db(transaction=True)
def test_a_file_added_side_by_side_belongs_to_one_of_the_projects(client: APIClient, alice: Any) -> None:
    file = file_of(alice)
    projects = [create(client) for _ in range(4)]
    run_concurrently(
        *(
            lambda project=project: post(
                factories.api_client(alice), f"{PROJECTS}{project}/files/", {"file": file}
            )
            for project in projects
        )
    )
    assert [files_of(client, project) for project in projects].count([file]) == 1


class TestSessionsOfAProject:
    def test_sessions_are_listed_by_their_project(self, client: APIClient, session: str) -> None:
        project, other = create(client), create(client)
        own = post(client, "/api/sessions/", {"project": project, "title": "Moon"}).json()["id"]
        listed = client.get("/api/sessions/", {"project": project}).json()["results"]
        assert [one["id"] for one in listed] == [own]
        assert client.get("/api/sessions/", {"project": other}).json()["results"] == []
        found = client.get("/api/sessions/", {"project": project, "search": "Moon"}).json()["results"]
        assert [one["id"] for one in found] == [own]
        assert len(client.get("/api/sessions/").json()["results"]) == 2
        client.patch(f"/api/sessions/{session}/", {"project": project}, format="json")
        assert len(client.get("/api/sessions/", {"project": project}).json()["results"]) == 2

    def test_a_project_of_another_user_lists_and_takes_nothing(self, client: APIClient, session: str) -> None:
        bob = factories.create_user("bob")
        theirs = str(Project.objects.create(owner=bob, name="Bread").pk)
        Session.objects.start(bob, project_id=theirs)
        for response in (
            client.get("/api/sessions/", {"project": theirs}),
            post(client, "/api/sessions/", {"project": theirs}),
            client.patch(f"/api/sessions/{session}/", {"project": theirs}, format="json"),
        ):
            assert (response.status_code, response.json()["code"]) == (404, "project_not_found")
        assert client.get("/api/sessions/", {"project": "mine"}).status_code == 400
