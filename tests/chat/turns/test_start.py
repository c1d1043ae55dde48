"""How start_turn takes its steps: how often it reads a snapshot, and what a repeat returns."""

import pytest
from msgspec import UNSET, UnsetType

from chat.models import ChatMessage, Role, Session, TipSnapshot
from chat.turns import start
from chat.turns.request import TurnBody
from knowledge.models import File
from tests import factories


class SnapshotCounter:
    """Replaces TipSnapshot and counts the reads."""

    def __init__(self) -> None:
        self.reads = 0

    def read(self, *arguments: object) -> TipSnapshot | None:
        self.reads += 1
        return TipSnapshot.read(*arguments)  # type: ignore[arg-type]


@pytest.fixture
def session(db: None) -> Session:
    factories.create_model("quick", is_default=True)
    return Session.objects.start(factories.create_user("alice"))


@pytest.mark.parametrize(
    "parent",
    [
        pytest.param(UNSET, id="at the tip, without the lock"),
        pytest.param(None, id="below the root, under the lock"),
    ],
)
def test_a_send_reads_one_snapshot(
    session: Session, monkeypatch: pytest.MonkeyPatch, parent: UnsetType | None
) -> None:
    """A request that needs the lock in any case does not read a snapshot without it."""
    root = ChatMessage.objects.get(session=session, role=Role.ROOT)
    session.point_at(root)
    counter = SnapshotCounter()
    monkeypatch.setattr(start, "TipSnapshot", counter)
    assert not start.start_turn(session, TurnBody("Hello", parent=parent)).is_repeat
    assert counter.reads == 1


def test_a_repeat_is_found_although_its_file_cannot_be_read_any_more(session: Session) -> None:
    file = File.objects.create(owner=session.owner, name="a.txt", status="ready", text="a")
    request = TurnBody("Hello", files=[file.pk], client_message_id="m1")
    first = start.start_turn(session, request)
    File.objects.filter(pk=file.pk).update(status="failed", error_code="unreadable")
    repeated = start.start_turn(session, request)
    assert repeated.is_repeat
    assert repeated.turn.pk == first.turn.pk
