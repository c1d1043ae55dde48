"""Random histories of a world, each told by its seed."""

import random
from collections.abc import Callable, Iterator
from itertools import accumulate

from tests.faults.history_data import Violation
from tests.machine.world import ACTIONS, World

NAMES = list(ACTIONS)
WEIGHTS = list(accumulate(ACTIONS.values()))
STEPS = 150


def schedule(seed: int, steps: int = STEPS) -> Iterator[tuple[str, int]]:
    chance = random.Random(seed)
    for action in chance.choices(NAMES, cum_weights=WEIGHTS, k=steps):
        yield action, chance.randrange(8)


def live_through(world: World, seed: int, steps: int = STEPS) -> list[Violation]:
    """One history from its beginning to its end."""
    for action, choice in schedule(seed, steps):
        world.do(action, choice)
    return world.settle()


def first_caught(new_world: Callable[[], World], seeds: range) -> tuple[int, list[Violation]] | None:
    """The first seed whose history breaks a promise, and what it breaks."""
    for seed in seeds:
        violations = live_through(new_world(), seed)
        if violations:
            return seed, violations
    return None
