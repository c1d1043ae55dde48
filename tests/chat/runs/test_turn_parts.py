"""Parts of features learn of the end of each turn, once, with the turn's own transaction."""

from typing import Any

import pytest
from django.db import connection

from chat.models import Turn
from chat.models.sql.turns import TurnState
from chat.protocol.states import Status
from chat.runs import completion, turn_parts
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


class Observer(turn_parts.TurnPart):
    """Records the turns that ended; fails at the end of a turn if it has an error."""

    def __init__(self) -> None:
        self.ended: list[tuple[str, list[str]]] = []
        self.error: Exception | None = None

    def after_turn(self, turn: TurnState) -> None:
        assert connection.in_atomic_block
        if self.error:
            raise self.error
        self.ended.append((str(turn.id), sorted(turn.statuses)))


@pytest.fixture
def observer(monkeypatch: pytest.MonkeyPatch) -> Observer:
    observer = Observer()
    monkeypatch.setattr(turn_parts, "_PARTS", [])
    turn_parts.register(observer)
    return observer


@pytest.fixture
def client() -> Any:
    factories.create_model("quick", is_default=True)
    factories.create_model("slow")
    return factories.api_client(factories.create_user("alice"))


def test_a_part_learns_once_of_a_turn_whose_last_run_has_ended(client: Any, observer: Observer) -> None:
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    turn = factories.send_turn(client, session, models=["quick", "slow"]).json()
    quick, slow = turn["runs"]
    factories.finish_run(quick["id"], "An answer")
    assert observer.ended == [], "the turn goes on"
    factories.finish_run(slow["id"], "half a", Status.FAILED)
    completion.announce(slow["id"])
    stored = Turn.objects.get(session=session)
    assert observer.ended == [(str(stored.pk), ["completed", "failed"])]


def test_a_part_that_fails_leaves_the_end_of_the_turn_to_be_announced_again(
    client: Any, observer: Observer
) -> None:
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    [run] = factories.send_turn(client, session).json()["runs"]
    observer.error = ArithmeticError("of a feature")
    with pytest.raises(ArithmeticError):
        factories.finish_run(run["id"])
    assert Turn.objects.get(session=session).ended_at is None
    observer.error = None
    completion.announce(run["id"])
    assert Turn.objects.get(session=session).ended_at is not None
    assert len(observer.ended) == 1
