"""Property tests of a run, its log and its readers under random faults (guarantees I2 to I6).

The same state machine (tests/machine/world.py) runs over in-memory models and over Valkey and Postgres. Mutants, with one
guarantee removed each, verify that the checks detect violations.
"""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from chat.log.cursor import Action, Cursor, Header, Position
from chat.log.producer import PacketProducer
from chat.protocol.wire import Placement, RunAddress, RunStart, Snapshot
from tests.factories import create_model, create_user
from tests.machine.drive import find_violation, run_history
from tests.machine.model import ModelLog
from tests.machine.mutants import MODELS, REAL, model_world
from tests.machine.real import real_world
from tests.machine.world import ACTIONS, NoScheduler, World
from tests.seeds import seed_of

RecordProperty = Callable[[str, object], None]
CUT_POINTS = 100_000
REAL_HISTORIES = 10
CHOICES = st.integers(0, 7)
# No shrinking: failures are replayed by their seed, and mutants fail on purpose.
QUICK = settings(
    max_examples=150, stateful_step_count=60, database=None, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


class RunMachine(RuleBasedStateMachine):
    """Every action is total, so any sequence is a history; it is checked at the end, when the world has settled."""

    def __init__(self) -> None:
        super().__init__()
        self.world = self.new_world()

    def new_world(self) -> World:
        return model_world(ModelLog())

    @rule(actions=st.lists(st.tuples(st.sampled_from(list(ACTIONS)), CHOICES), min_size=1, max_size=4))
    def anything(self, actions: list[tuple[str, int]]) -> None:
        for action, choice in actions:
            self.world.do(action, choice)

    @rule(choice=CHOICES)
    def claim_say_and_append(self, choice: int) -> None:
        for action in ("claim", "say", "append"):
            self.world.do(action, choice)

    @rule(choice=CHOICES)
    def connect_while_something_is_said(self, choice: int) -> None:
        for action in ("ask", "join", "say", "append", "confirm", "join", "deliver"):
            self.world.do(action, choice)

    @rule(choice=CHOICES, count=st.integers(1, 5))
    def say_append_and_deliver(self, choice: int, count: int) -> None:
        for action in ("say", "append", "deliver") * count:
            self.world.do(action, choice)

    @rule(choice=CHOICES)
    def lose_the_owner(self, choice: int) -> None:
        """The owner is killed or paused, and the run is taken over."""
        for action in (("kill",) if choice % 2 else ()) + ("expire", "sweep", "claim"):
            self.world.do(action, choice)

    @rule(choice=CHOICES)
    def lose_the_log_while_a_call_is_written(self, choice: int) -> None:
        for action in (
            "claim",
            "write",
            "append",
            "checkpoint",
            "empty",
            "ask",
            "confirm",
            "join",
            "write",
            "append",
            "deliver",
        ):
            self.world.do(action, choice)

    @rule(choice=CHOICES)
    def finish_and_go_on(self, choice: int) -> None:
        for action in (
            "claim",
            "say",
            "append",
            "finish",
            "append",
            "announce",
            "deliver",
            "go_on",
            "claim",
            "say",
        ):
            self.world.do(action, choice)

    @rule()
    def a_frozen_owner_ends_it_after_the_takeover(self) -> None:
        for action in ("claim", "say", "expire", "sweep", "claim", "finish", "append"):
            self.world.do(action, 0)

    @invariant()
    def nothing_was_missed_and_the_log_never_goes_back(self) -> None:
        assert not self.world.violations, self.world.violations

    def teardown(self) -> None:
        violations = self.world.settle()
        assert not violations, violations


def test_no_order_of_events_breaks_the_model() -> None:
    run_state_machine_as_test(RunMachine, settings=QUICK)


def test_a_hundred_thousand_cut_points_in_the_model_break_nothing(record_property: RecordProperty) -> None:
    first = seed = seed_of("TURNWIRE_SEED")
    cuts = 0
    while cuts < CUT_POINTS:
        world = model_world(ModelLog())
        violations = run_history(world, seed)
        assert not violations, f"TURNWIRE_SEED={seed}: {violations}"
        cuts += world.cuts
        seed += 1
    found = f"{cuts} random cut points in {seed - first} histories, 0 violations, TURNWIRE_SEED={first}"
    record_property("sampled", found)


@pytest.mark.parametrize("mistake", MODELS)
def test_the_checks_notice_when_a_promise_of_the_model_is_broken(mistake: str) -> None:
    caught = find_violation(MODELS[mistake], range(500))
    assert caught is not None


@pytest.mark.parametrize("mistake", MODELS)
def test_the_machine_notices_when_a_promise_of_the_model_is_broken(mistake: str) -> None:
    class BrokenMachine(RunMachine):
        def new_world(self) -> World:
            return MODELS[mistake]()

    with pytest.raises(AssertionError, match="invariant="):
        run_state_machine_as_test(
            BrokenMachine, settings=settings(QUICK, max_examples=3000, derandomize=True)
        )


@pytest.fixture
def alice(transactional_db: None) -> Any:
    create_model("alpha", is_default=True)
    return create_user("alice")


def test_no_order_of_events_breaks_valkey_and_postgres(alice: Any) -> None:
    class RealMachine(RunMachine):
        def new_world(self) -> World:
            return real_world(alice)

    run_state_machine_as_test(RealMachine, settings=settings(QUICK, max_examples=5, stateful_step_count=20))


def test_random_cut_points_of_valkey_and_postgres_break_nothing(
    alice: Any, record_property: RecordProperty
) -> None:
    first, cuts = seed_of("TURNWIRE_SEED"), 0
    for seed in range(first, first + REAL_HISTORIES):
        world = real_world(alice)
        violations = run_history(world, seed)
        assert not violations, f"TURNWIRE_SEED={seed}: {violations}"
        cuts += world.cuts
    record_property("sampled", f"{cuts} random cut points for real, 0 violations, TURNWIRE_SEED={first}")


@pytest.mark.parametrize("mistake", REAL)
def test_the_checks_notice_when_a_promise_of_valkey_or_postgres_is_broken(mistake: str, alice: Any) -> None:
    """Uses a history in which the same mutant of the model violates a guarantee."""
    seed, _ = find_violation(MODELS[mistake], range(500)) or pytest.fail("the model's checks notice nothing")
    assert find_violation(lambda: REAL[mistake](alice), range(seed, seed + 20))


def test_an_end_is_said_once_though_redis_was_emptied(alice: Any) -> None:
    """The worker emits `stop` and is killed before the announcement; then the log is lost and the sweeper announces the end."""
    world = real_world(alice)
    for action in ("claim", "say", "ask", "confirm", "join", "finish", "append", "deliver", "kill"):
        world.do(action)
    world.log.empty()
    world.do("sweep")
    assert not world.settle()


def test_a_snapshot_is_never_published_alone() -> None:
    """If the publication of a snapshot (seq 0) is lost, the next one must reveal a gap.

    A separate publication that starts at seq 1 would look like the start of the attempt, and the snapshot's text would be
    lost.
    """
    producer = PacketProducer(RunAddress("session", "run", attempt=2), NoScheduler(), lambda: None)
    producer.open_with_snapshot(Snapshot("run", 2, 0, {"text": "kept" * 100_000}))
    assert producer.next_append() == []
    producer.emit(Placement(), RunStart(model="model"))
    _, _, attempt, first, base, _, _, _, _, *lines = producer.next_append()
    assert (attempt, first, base, len(lines)) == (2, 0, 0, 2)
    assert Position(Cursor(1, 3)).take(Header(attempt=2, first=2, last=2)).action is Action.GAP
