"""Runs random histories of a World, each determined by its seed."""

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


def run_history(world: World, seed: int, steps: int = STEPS) -> list[Violation]:
    """Run one random history, settle the world and return the violations."""
    for action, choice in schedule(seed, steps):
        world.do(action, choice)
    return world.settle()


def find_violation(new_world: Callable[[], World], seeds: range) -> tuple[int, list[Violation]] | None:
    """The first seed whose history violates a guarantee, and the violations; None if there is none."""
    for seed in seeds:
        violations = run_history(new_world(), seed)
        if violations:
            return seed, violations
    return None
