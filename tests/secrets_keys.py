"""Keys of SECRETS_KEYS for tests, of no worth anywhere else."""

from typing import Final

FIRST: Final = "dGhlIGZpcnN0IGtleSBvZiB0ZXN0czogMzIgYnl0ZXM="
SECOND: Final = "dGhlIG90aGVyIGtleSBvZiB0ZXN0czogMzIgYnl0ZXM"
