"""Creates users, models, sessions, turns and finished runs for tests, without a worker.

By convention alice owns the data, bob is another user or staff, and mallory must see nothing.
"""

import uuid
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from chat.compressions import summaries
from chat.infrastructure.redis_client import sync_redis
from chat.models import (
    Approval,
    ChatMessage,
    Compression,
    DefaultLimits,
    McpCatalog,
    McpCredential,
    McpServer,
    ModelConfig,
    Run,
    Session,
    ToolCall,
)
from chat.models.outcome import RunOutcome
from chat.protocol.states import Status
from chat.runs.completion import announce, commit_end
from chat.transcript.questions import AnyQuestion
from chat.transcript.tools import AskedTool
from knowledge.files import blobs
from knowledge.models import File


def create_user(name: str, password: str | None = None, **fields: Any) -> Any:
    """Pass a password only if the test logs in: hashing it is slow."""
    return get_user_model().objects.create_user(name, password=password, **fields)


def api_client(person: Any) -> APIClient:
    client = APIClient()
    client.force_authenticate(person)
    return client


def set_default_limits(**limits: Any) -> None:
    DefaultLimits.objects.update_or_create(defaults=limits, id=1)


def create_model(name: str, **fields: Any) -> ModelConfig:
    return ModelConfig.objects.create(name=name, **fields)


def session_of_alice() -> tuple[APIClient, str]:
    """alice's API client and the id of a new session; creates a default model and empties Redis."""
    sync_redis().flushdb()
    create_model("quick", is_default=True)
    client = api_client(create_user("alice"))
    return client, client.post("/api/sessions/", {}, format="json").json()["id"]


def queued_run() -> Run:
    """A queued run of alice's; no worker has claimed it."""
    return Run.objects.get(pk=send_turn(*session_of_alice()).json()["runs"][0]["id"])


def staff_client(*permissions: str, name: str = "bob") -> Client:
    """A client logged in to the admin as a new user, who has only these permissions."""
    person = create_user(name, is_staff=True)
    person.user_permissions.add(*Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(person)
    return client


def view_permissions(*, but: str) -> list[str]:
    """All permissions to see rows but this one."""
    seeing = Permission.objects.filter(codename__startswith="view_").exclude(codename=but)
    return list(seeing.values_list("codename", flat=True))


def send_turn(client: APIClient, session: Any, text: str = "Hello", **body: Any) -> Any:
    return client.post(f"/api/sessions/{session}/turns/", {"text": text, **body}, format="json")


def finish_run(run_id: str, text: str = "An answer", status: Status = Status.COMPLETED) -> Run:
    """Claim, end and announce the run, as a worker does."""
    run = Run.objects.claim(run_id, owner=1)
    assert run is not None
    assert commit_end(run.pk, run.attempt, RunOutcome(status, last_seq=3, text=text))
    announce(run.pk)
    return Run.objects.for_work().get(pk=run_id)


def complete_turn(client: APIClient, session: Any, text: str = "Hello", **body: Any) -> dict[str, Any]:
    """Send a turn and finish its runs; returns the response to the send."""
    started: dict[str, Any] = send_turn(client, session, text, **body).json()
    for run in started["runs"]:
        finish_run(run["id"], f"About {text}")
    return started


def create_waiting_call(
    run: Run,
    parameters: dict[str, Any],
    arguments: dict[str, Any],
    *,
    tab: int = 0,
    question: AnyQuestion | None = None,
) -> ToolCall:
    """A call of the run that waits for its owner's approval or answer; the run's state stays. parameters: the tool's JSON
    Schema.
    """
    call = ToolCall.objects.create(
        run=run, message=run.message, turn_number=0, tab_index=tab, tool_call_id=f"call_{tab}", name="act",
        arguments=arguments, status="waiting",
    )  # fmt: skip
    Approval.for_call(call, run.turn.session, AskedTool(parameters), question).save()
    return call


def create_mcp_credential(server: McpServer, user: Any) -> McpCredential:
    return McpCredential.objects.create(
        server=server, user=user, url=server.url, encrypted_secret="of nothing"
    )


def create_mcp_catalog(
    server: McpServer, credential: McpCredential | None = None, **listed: Any
) -> McpCatalog:
    return McpCatalog.objects.create(
        server=server,
        credential=credential,
        revision=server.revision,
        expires_at=timezone.now() + timedelta(hours=1),
        **listed,
    )


def message_texts(client: APIClient, session: Any, **query: Any) -> list[str]:
    return [one["text"] for one in client.get(f"/api/sessions/{session}/messages/", query).json()]


def current_tip(session: Any) -> ChatMessage:
    """The last message of the path that follows latest_child from the root."""
    root = ChatMessage.objects.root_of(Session.objects.get(pk=session))
    return list(ChatMessage.objects.current_path_from(root))[-1]


def create_summary(
    parent: ChatMessage, cutoff: ChatMessage, text: str, tokens: int, made_for: int = 128_000
) -> ChatMessage:
    """A summary below `parent` of everything up to `cutoff`, made for a history window of so many tokens."""
    summary = summaries.store_summary(parent, cutoff.pk, text, tokens)
    Compression.objects.create(
        session=parent.session, parent=parent, leaf=parent, model="any", triggered_by="auto", status="done",
        ended_at=timezone.now(), history_window=made_for, reserved_tokens=0, summary=summary,
    )  # fmt: skip
    return summary


def create_picture(owner: Any, name: str) -> File:
    """One that is ready; the bytes of its content and thumbnail are none of a picture."""
    pk = uuid.uuid4()
    paths = [
        blobs.store(ContentFile(text), f"files/{pk}{end}") for text, end in ((b"big", ""), (b"small", "-s"))
    ]
    return File.objects.create(
        pk=pk, owner=owner, name=name, kind="image", content_type="image/png", status="ready", size_bytes=3,
        content=paths[0], thumbnail=paths[1], width_px=8, height_px=8,
    )  # fmt: skip
