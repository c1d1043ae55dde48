"""A Python client that is generated from the OpenAPI document asks, reads, stops, and is told what is wrong."""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

base, token = os.environ["OPENAI_BASE_URL"].removesuffix("/v1"), os.environ["OPENAI_API_KEY"]
folder = Path(tempfile.mkdtemp())
document = httpx.get(f"{base}/api/schema/?format=json", headers={"Authorization": f"Token {token}"})
(folder / "turnwire.json").write_bytes(document.raise_for_status().content)
made = subprocess.run(
    [sys.executable, "-m", "openapi_python_client", "generate", "--path", folder / "turnwire.json"],
    cwd=folder, env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    capture_output=True, text=True, timeout=120, check=True,
)  # fmt: skip
# Contents of files and archives: they are read without the client.
unsupported = set(re.findall(r"WARNING parsing (.*) within", made.stdout + made.stderr))
assert unsupported == {
    "GET /api/files/{file}/content/",
    "GET /api/files/{file}/thumbnail/",
    "GET /api/knowledge-bases/{knowledge_base}/documents/{document}/content/",
    "POST /api/sessions/import/",
}, made.stderr
sys.path.insert(0, str(folder / "turnwire-client"))

from turnwire_client import AuthenticatedClient  # noqa: E402
from turnwire_client.api.knowledge_bases import documents_create, knowledge_bases_create  # noqa: E402
from turnwire_client.api.runs import runs_cancel, runs_read  # noqa: E402
from turnwire_client.api.sessions import messages_list, sessions_create, turns_create  # noqa: E402
from turnwire_client.models import ErrorAnswer, KnowledgeBaseBody, NewDocumentBody, NewSessionBody, TurnBody  # noqa: E402

client = AuthenticatedClient(base_url=base, token=token, prefix="Token")
session = sessions_create.sync(client=client, body=NewSessionBody(title="Tides"))
turn = turns_create.sync(session.id, client=client, body=TurnBody(text="Why two tides?", models=["alpha"]))
[run] = turn.runs
while (status := runs_read.sync(run.id, client=client).status) not in ("completed", "failed"):
    time.sleep(0.1)
assert status == "completed"
question, answer = messages_list.sync(session.id, client=client)
assert (question.text, answer.text) == ("Why two tides?", "Two tides a day.")
assert runs_cancel.sync(run.id, client=client).status == "completed"

knowledge = knowledge_bases_create.sync(client=client, body=KnowledgeBaseBody(name="Almanac"))
written = NewDocumentBody(title="Brest", text="High water at 18:40.")
assert documents_create.sync(knowledge.id, client=client, body=written).title == "Brest"
untitled = documents_create.sync(knowledge.id, client=client, body=NewDocumentBody(text="High water."))
assert isinstance(untitled, ErrorAnswer)
assert (untitled.code, untitled.field) == ("field_required", "title")
