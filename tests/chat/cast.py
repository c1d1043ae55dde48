"""The cast: alice owns, bob is another user, mallory must see nothing. And what they talk to."""

from typing import Any

from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from chat.models import ModelConfig, Session


def user(name: str, **fields: Any) -> Any:
    return get_user_model().objects.create_user(name, password=f"{name} knows", **fields)


def client_of(person: Any) -> APIClient:
    client = APIClient()
    client.force_authenticate(person)
    return client


def model(name: str, **fields: Any) -> ModelConfig:
    return ModelConfig.objects.create(name=name, **fields)


def send(client: APIClient, session: Session, text: str = "Hello", **body: Any) -> Any:
    return client.post(f"/api/sessions/{session.pk}/turns/", {"text": text, **body}, format="json")
