"""Seeds of tests that try a random sample."""

import os
import random


def seed_of(variable: str) -> int:
    """The environment variable's value, if it is set; otherwise 1 in CI, and a random one elsewhere.

    CI judges a change: a rare fault that stood before would fail whatever change meets it. It is found where people
    run the tests, and its seed is printed.
    """
    value = os.environ.get(variable)
    if value:
        return int(value)
    return 1 if os.environ.get("CI") else random.SystemRandom().randrange(2**32)
