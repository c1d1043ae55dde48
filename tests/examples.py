"""How many examples a property test tries, its own number but few in `make quick`, and for how long: its test's limit says it.

Hypothesis would fail an example that takes more than a fifth of a second, which any of them does on a busy machine.
"""

from hypothesis import settings

QUICK = "quick"
QUICK_EXAMPLES = 5
USUAL = "usual"

settings.register_profile(QUICK, max_examples=QUICK_EXAMPLES, deadline=None)
# As Hypothesis has chosen it: in CI it tries the same examples each time.
settings.register_profile(USUAL, settings.get_profile(settings.get_current_profile_name()), deadline=None)
settings.load_profile(USUAL)


def examples(number: int) -> int:
    return QUICK_EXAMPLES if settings.get_current_profile_name() == QUICK else number
