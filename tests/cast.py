"""The cast: alice owns, bob is another user, mallory must see nothing. And what they say and do."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.test import Client
from rest_framework.test import APIClient

from chat.infrastructure.redis_client import sync_redis
from chat.models import ChatMessage, ModelConfig, Run, Session
from chat.models.outcome import RunOutcome
from chat.protocol.states import Status
from chat.runs.completion import announce, commit_end


def user(name: str, password: str | None = None, **fields: Any) -> Any:
    """Without a password unless the test logs in: hashing one takes a third of a second."""
    return get_user_model().objects.create_user(name, password=password, **fields)


def client_of(person: Any) -> APIClient:
    client = APIClient()
    client.force_authenticate(person)
    return client


def model(name: str, **fields: Any) -> ModelConfig:
    return ModelConfig.objects.create(name=name, **fields)


def chat_of_alice() -> tuple[APIClient, str]:
    """Her client and a new session of hers, with a model that may answer and nothing left in Redis."""
    sync_redis().flushdb()
    model("quick", is_default=True)
    client = client_of(user("alice"))
    return client, client.post("/api/sessions/", {}, format="json").json()["id"]


def asked() -> Run:
    """By alice; queued, and nobody has heard of it."""
    return Run.objects.get(pk=send(*chat_of_alice()).json()["runs"][0]["id"])


def staff(*permissions: str) -> Client:
    """bob, logged in to the admin with these permissions alone."""
    person = user("bob", is_staff=True)
    person.user_permissions.add(*Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(person)
    return client


def send(client: APIClient, session: Any, text: str = "Hello", **body: Any) -> Any:
    return client.post(f"/api/sessions/{session}/turns/", {"text": text, **body}, format="json")


def finish(run_id: str, text: str = "An answer", status: Status = Status.COMPLETED) -> Run:
    """What a worker would do: claim the run, end it, announce it."""
    run = Run.objects.claim(run_id, owner=1)
    assert run is not None
    assert commit_end(run.pk, run.attempt, RunOutcome(status, last_seq=3, text=text))
    announce(run.pk)
    return Run.objects.for_work().get(pk=run_id)


def talk(client: APIClient, session: Any, text: str = "Hello", **body: Any) -> dict[str, Any]:
    """One finished turn; what the send answered."""
    started: dict[str, Any] = send(client, session, text, **body).json()
    for run in started["runs"]:
        finish(run["id"], f"About {text}")
    return started


def texts(client: APIClient, session: Any, **query: Any) -> list[str]:
    return [one["text"] for one in client.get(f"/api/sessions/{session}/messages/", query).json()]


def current_tip(session: Any) -> ChatMessage:
    """Where following latest_child from the root ends."""
    root = ChatMessage.objects.root_of(Session.objects.get(pk=session))
    return list(ChatMessage.objects.current_path_from(root))[-1]
