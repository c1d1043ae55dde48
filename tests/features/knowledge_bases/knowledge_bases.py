"""Knowledge bases for tests: one with a member in each role."""

from typing import Any

from rest_framework.test import APIClient

from knowledge.models import KnowledgeBase, MemberRole
from tests import factories

BASES = "/api/knowledge-bases/"
STRANGER = "stranger"
ROLES = [*MemberRole.values, STRANGER]


class Team:
    """A base, and a user and client for each role and for somebody who is no member."""

    def __init__(self) -> None:
        self.users = {role: factories.create_user(role) for role in ROLES}
        self.clients: dict[str, APIClient] = {
            role: factories.api_client(user) for role, user in self.users.items()
        }
        self.base = KnowledgeBase.objects.start(
            self.users["owner"],
            name="Tides",
            summary="All of the sea.",
            topics=["Moon"],
            routing_hint="The sea",
        )
        for role in MemberRole.values[1:]:
            self.base.members.create(user=self.users[role], role=role)
        self.path = f"{BASES}{self.base.pk}/"

    def member(self, role: str) -> str:
        return str(self.base.members.get(user=self.users[role]).pk)


def send(client: APIClient, method: str, path: str, body: Any = None) -> Any:
    return (
        getattr(client, method)(path, body, format="json")
        if body is not None
        else getattr(client, method)(path)
    )


def refusal(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]
