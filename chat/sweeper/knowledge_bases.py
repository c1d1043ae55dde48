"""Deletes what knowledge bases held that were deleted: some documents at a time, in short transactions. Idempotent."""

import time
from typing import Final

from chat.knowledge_bases.deletion import purge_base
from chat.sweeper.repairs import attempt_repair
from knowledge.models import KnowledgeBase

# Of one sweep; 10,000 short documents take some of them.
PURGE_S: Final = 5.0


def purge_deleted() -> int:
    """Return how many rows were deleted."""
    limit = time.monotonic() + PURGE_S
    purged = 0
    while time.monotonic() < limit and (base := KnowledgeBase.objects.deleted().first()):
        rows = attempt_repair(f"deleted knowledge base {base.pk}", purge_base, base)
        if not rows:
            break
        purged += rows
    return purged
