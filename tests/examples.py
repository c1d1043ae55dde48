"""How many examples a property test tries: its own number, but few in `make quick`."""

from hypothesis import settings

QUICK = "quick"
QUICK_EXAMPLES = 5

settings.register_profile(QUICK, max_examples=QUICK_EXAMPLES)


def examples(number: int) -> int:
    return QUICK_EXAMPLES if settings.get_current_profile_name() == QUICK else number
