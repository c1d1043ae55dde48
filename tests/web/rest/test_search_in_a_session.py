"""`GET sessions/{id}/search/`: the messages of one session that have the words, on all branches."""

from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from chat.models import Session
from tests.factories import api_client, create_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoo(alice) -> Session:
    """Three messages with a zebra, one of them on another branch, one without; another session has one too."""
    session, other = Session.objects.start(alice), Session.objects.start(alice)
    root, append = session.leaf, session.messages.model.objects.append
    first = append(root, role="user", text="The zebra stands")
    answer = append(first, role="assistant", text="**Zebras** and zebus", token_count=5)
    for number, one in enumerate([first, answer, append(root, role="user", text="The okapi, not the zebra")]):
        sent_at = timezone.now() + timedelta(seconds=number)
        session.messages.filter(pk=one.pk).update(sent_at=sent_at)
    append(root, role="user", text="The tapir")
    append(other.leaf, role="user", text="Another zebra")
    return session


def search(client: APIClient, session: Session, query: str) -> list[str | None]:
    answer = client.get(f"/api/sessions/{session.pk}/search/{query}")
    assert answer.status_code == 200, answer.content
    by_id = {str(one.pk): one.text for one in session.messages.all()}
    return [by_id[one["message"]] for one in answer.json()]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?search=zeb", ["The zebra stands", "**Zebras** and zebus", "The okapi, not the zebra"]),
        ("?search=zebra+okapi", ["The okapi, not the zebra"]),
        ("?search=zebra&limit=1", ["The zebra stands"]),
        ("?search=lion", []),
        ("?search=+", []),
        ("", []),
    ],
)
def test_messages_on_all_branches_are_found_in_the_order_they_were_sent(client, zoo, query, found):
    assert search(client, zoo, query) == found


def test_each_hit_has_the_text_around_the_words(client, zoo):
    [hit] = client.get(f"/api/sessions/{zoo.pk}/search/?search=okapi").json()
    assert hit["match"] == "The okapi, not the zebra"


def test_the_session_of_another_user_is_not_found(zoo):
    client = api_client(create_user("visitor"))
    assert client.get(f"/api/sessions/{zoo.pk}/search/?search=zebra").status_code == 404
