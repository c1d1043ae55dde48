"""Deletes the contents of deleted knowledge bases: some documents at a time, in short transactions. Idempotent."""

import time
from typing import Final

from chat.knowledge_bases.deletion import purge_base
from chat.sweeper.repairs import attempt_repair
from knowledge.models import KnowledgeBase

# Time per sweep; 10,000 short documents take several sweeps.
PURGE_S: Final = 5.0


def purge_deleted() -> int:
    """Purge deleted bases for at most PURGE_S; return how many rows were deleted."""
    limit = time.monotonic() + PURGE_S
    purged = 0
    while time.monotonic() < limit and (base := KnowledgeBase.objects.deleted().first()):
        rows = attempt_repair(f"deleted knowledge base {base.pk}", purge_base, base)
        if not rows:
            break
        purged += rows
    return purged
