"""Zip archives of sessions for tests: as the product exports them, and as others may have changed them."""

import io
import json
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from rest_framework.test import APIClient

MOMENT = "2026-03-01T12:00:00Z"
TIDES = b"Two tides a day."


def described(entry: str, content: bytes = TIDES, **members: Any) -> dict[str, Any]:
    """A file of a message with its entry."""
    made = {"name": "tides.txt", "entry": entry, "sha256": sha256(content).hexdigest()}
    return made | members


def manifest(*files: dict[str, Any], **members: Any) -> dict[str, Any]:
    """One question with these files."""
    root = {"id": 0, "role": "root", "sent_at": MOMENT, "latest_child": 1}
    question = {"id": 1, "role": "user", "parent": 0, "sent_at": MOMENT, "text": "?", "files": list(files)}
    return {"format": "turnwire.session", "version": 3, "messages": [root, question], **members}


def packed(
    entries: Mapping[str, bytes], *files: dict[str, Any], method: int = zipfile.ZIP_DEFLATED, **members: Any
) -> bytes:
    """An archive with a manifest of one question with `files`; entries may contain another manifest."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", method) as archive:
        archive.writestr("manifest.json", json.dumps(manifest(*files, **members)))
        for name, content in entries.items():
            archive.writestr(name, content)
    return output.getvalue()


def archive_of_one(content: bytes = TIDES, **members: Any) -> bytes:
    return packed({"files/1": content}, described("files/1", content, **members))


def bring_in(client: APIClient, archive: bytes) -> Any:
    return client.post("/api/sessions/import/", archive, content_type="application/zip")


def take_out(client: APIClient, session: Any) -> bytes:
    response = client.get(f"/api/sessions/{session}/export/", {"as": "zip"})
    assert response.status_code == 200
    assert response["Content-Type"] == "application/zip"
    return b"".join(response.streaming_content)


def unpacked(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def manifest_of(archive: bytes) -> dict[str, Any]:
    return dict(json.loads(unpacked(archive)["manifest.json"]))
