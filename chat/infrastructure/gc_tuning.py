"""Python's cyclic garbage collector, told what a long-lived process is like."""

import gc
from typing import Final

# Objects that come and go with tokens are freed by their reference counts; looking for cycles among them every 700
# allocations finds none. A few megabytes may wait for the next look.
ALLOCATIONS: Final = 50_000


def tune_gc() -> None:
    """Call once when everything is loaded: modules, settings and models are not looked at again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(ALLOCATIONS, 20, 50)
