"""The extracted text of a file is read by its owner, once the file is ready."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from knowledge.models import File
from tests import factories


def make_file(owner: Any, **fields: Any) -> str:
    return str(File.objects.create(owner=owner, name="tides.txt", **fields).pk)


def test_it_is_plain_text_that_runs_nothing(client: APIClient, alice: Any) -> None:
    pk = make_file(alice, status="ready", text="<script>Zwei Fluten täglich.</script>")
    response = client.get(f"/api/files/{pk}/text/")
    assert response.content.decode() == "<script>Zwei Fluten täglich.</script>"
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"


def test_a_part_is_read_by_its_characters(client: APIClient, alice: Any) -> None:
    address = f"/api/files/{make_file(alice, status='ready', text='🌊 Zwei Fluten täglich.')}/text/"
    for query, part in (
        ("?start=2&length=11", "Zwei Fluten"),
        ("?start=14", "täglich."),
        ("?length=1", "🌊"),
        ("?start=90&length=5", ""),
    ):
        assert client.get(address + query).content.decode() == part
    for wrong in ("start=-1", "length=x", "start=" + "9" * 11, "length=²"):
        refused = client.get(f"{address}?{wrong}")
        assert (refused.status_code, refused.json()["field"]) == (400, wrong.partition("=")[0])


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        ({"status": "processing"}, 409, {"code": "file_processing"}),
        ({"status": "failed", "error_code": "document_encrypted"}, 422, {"code": "file_failed", "error": "document_encrypted"}),
    ],
)  # fmt: skip
def test_a_file_that_is_not_ready_has_none(
    client: APIClient, alice: Any, fields: dict[str, str], status: int, error: dict[str, str]
) -> None:
    response = client.get(f"/api/files/{make_file(alice, **fields)}/text/")
    assert response.status_code == status
    assert response.json().items() >= error.items()


def test_it_is_not_there_for_others(client: APIClient, alice: Any) -> None:
    pk = make_file(alice, status="ready", text="Two tides a day.")
    assert client.get(f"/api/files/{pk}/text/").status_code == 200
    mallory = factories.api_client(factories.create_user("mallory"))
    response = mallory.get(f"/api/files/{pk}/text/")
    assert (response.status_code, response.json()["code"]) == (404, "file_not_found")
