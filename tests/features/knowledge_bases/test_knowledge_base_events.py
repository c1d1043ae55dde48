"""Which members are told of a change, and whose `updated_at` and list say that there was one: those who see what was changed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chat.events import session_list
from chat.infrastructure.redis_client import sync_redis
from ingest import extraction
from ingest.reader.reading_outcome import Outcome
from ingest.vectors import compute_waiting
from knowledge.models import ChunkVector, KnowledgeBase
from tests import factories
from tests.features.knowledge_bases.knowledge_bases import BASES, Team, send
from tests.indexed import add_indexed
from tests.next_file import read_file
from tests.upstream import Upstream

pytestmark = pytest.mark.django_db(transaction=True)

MEMBERS = ("owner", "editor", "reader", "restricted")
READERS = {"owner", "editor", "reader"}


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(extraction, "read_in_child", lambda *_: Outcome(error="document_corrupt"))
    sync_redis().flushdb()


@pytest.fixture
def team() -> Team:
    team = Team()
    send(team.clients["editor"], "post", f"{team.path}documents/", {"title": "Low", "text": "Low water."})
    return team


class Seen:
    """What each member sees of a base: the frames since, when it was changed, and where it stands among the bases."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self._names = {session_list.channel_name(team.users[role].pk): role for role in MEMBERS}
        self._pubsub: Any = sync_redis().pubsub(ignore_subscribe_messages=True)
        self._pubsub.subscribe(*self._names)
        self.told()

    def told(self) -> set[str]:
        """Those who received a frame since the last call, which says no more than the id."""
        for channel in self._names:
            sync_redis().publish(channel, '{"type": "end"}')
        told, ended = set(), 0
        while ended < len(self._names):
            message = self._pubsub.get_message(timeout=30)
            if not message:  # the confirmation of the subscription
                continue
            frame = json.loads(message["data"])
            if frame["type"] == "end":
                ended += 1
                continue
            assert frame == {"type": "knowledge_base_changed", "knowledge_base": str(self._team.base.pk)}
            told.add(self._names[message["channel"].decode()])
        return told

    def changed_at(self) -> dict[str, str]:
        return {role: self._team.clients[role].get(self._team.path).json()["updated_at"] for role in MEMBERS}


def document(team: Team) -> str:
    page = team.clients["reader"].get(f"{team.path}documents/").json()
    return f"{team.path}documents/{page['results'][0]['id']}/"


def add(team: Team) -> None:
    send(team.clients["editor"], "post", f"{team.path}documents/", {"url": "https://sea.example.org/"})


def replace(team: Team) -> None:
    send(team.clients["editor"], "put", document(team), {"text": "High water."})


def rename(team: Team) -> None:
    send(team.clients["editor"], "patch", document(team), {"title": "High"})


def delete(team: Team) -> None:
    send(team.clients["editor"], "delete", document(team))


def describe(team: Team) -> None:
    """Of the fields that are sent, one is changed that restricted members do not see."""
    fields = {"name": "Tides", "routing_hint": "The sea", "routing_keywords": [], "summary": "Of the moon."}
    send(team.clients["owner"], "patch", team.path, fields)


def invite(team: Team) -> None:
    body = {"user": factories.create_user("bob").username, "role": "reader"}
    send(team.clients["owner"], "post", f"{team.path}members/", body)


def dismiss(team: Team) -> None:
    other = team.base.members.create(user=factories.create_user("other"), role="reader")
    send(team.clients["owner"], "delete", f"{team.path}members/{other.pk}/")


def call_otherwise(team: Team) -> None:
    send(team.clients["owner"], "patch", team.path, {"name": "Sea"})


def hint(team: Team) -> None:
    send(team.clients["owner"], "patch", team.path, {"routing_hint": "The moon"})


def key(team: Team) -> None:
    send(team.clients["owner"], "put", team.path, {"name": "Tides", "routing_keywords": ["moon"]})


WITHHELD = [add, replace, rename, delete, describe, invite, dismiss]
SHOWN = [call_otherwise, hint, key]


@pytest.mark.parametrize("change", WITHHELD)
def test_restricted_members_notice_no_change_of_what_they_do_not_see(
    team: Team, change: Callable[[Team], None]
) -> None:
    seen = Seen(team)
    before = seen.changed_at()
    change(team)
    assert seen.told() == READERS
    after = seen.changed_at()
    assert {role for role in MEMBERS if after[role] != before[role]} == READERS


@pytest.mark.parametrize("change", SHOWN)
def test_all_members_notice_a_change_of_what_all_see(team: Team, change: Callable[[Team], None]) -> None:
    seen = Seen(team)
    before = seen.changed_at()
    change(team)
    assert seen.told() == set(MEMBERS)
    after = seen.changed_at()
    assert all(after[role] > before[role] for role in MEMBERS)


def test_restricted_members_are_not_told_that_a_document_was_read(team: Team) -> None:
    seen = Seen(team)
    read_file(document(team).split("/")[-2])
    assert seen.told() == READERS


def test_restricted_members_are_not_told_that_vectors_were_computed(team: Team, settings: Any) -> None:
    add_indexed(team.base, "High", "High water.")
    with Upstream() as upstream:
        settings.EMBEDDINGS_BASE_URL, settings.EMBEDDINGS_MODEL = upstream.base_url, "sea"
        seen = Seen(team)
        assert compute_waiting() is False
    assert ChunkVector.objects.filter(vector__isnull=False).exists()
    assert seen.told() == READERS


def test_restricted_members_are_told_of_their_own_role(team: Team) -> None:
    seen = Seen(team)
    path = f"{team.path}members/{team.member('reader')}/"
    send(team.clients["owner"], "patch", path, {"role": "restricted"})
    assert seen.told() == READERS


def test_the_list_of_a_restricted_member_keeps_its_order(team: Team) -> None:
    restricted = team.clients["restricted"]
    other = KnowledgeBase.objects.start(team.users["restricted"], name="Moon")
    order = [one["id"] for one in restricted.get(BASES).json()]
    assert order == [str(other.pk), str(team.base.pk)]
    for change in WITHHELD:
        change(team)
        assert [one["id"] for one in restricted.get(BASES).json()] == order
    rest = restricted.get(f"{BASES}?before={order[0]}").json()
    assert [one["id"] for one in rest] == order[1:]
    call_otherwise(team)
    assert [one["id"] for one in restricted.get(BASES).json()] == order[::-1]
    assert restricted.get(f"{BASES}?before={team.base.pk}").json()[0]["id"] == str(other.pk)
