"""Summaries that are written before they are needed (COMPRESSION_AHEAD), and kept in their compression's row.

They lie outside the tree until the trigger is crossed; then they are stored without another request.
"""

from collections.abc import Sequence
from uuid import UUID

from django.conf import settings

from chat.models import Compression, CompressionStatus
from compression.plan import CompressionParams, Row


def is_nearly_due(params: CompressionParams) -> bool:
    limit = settings.COMPRESSION_AHEAD_RATIO * params.history_window
    return settings.COMPRESSION_AHEAD and params.history_tokens > limit


def find_prepared(held: Compression, rows: Sequence[Row]) -> Compression | None:
    """The newest that was written on this branch and covers more than the summary in force."""
    if not settings.COMPRESSION_AHEAD:
        return None
    messages = [UUID(row.entry.id) for row in rows]
    prepared = Compression.objects.filter(
        session=held.session_id,
        status=CompressionStatus.PREPARED,
        parent__in=messages,
        prepared_cutoff__in=messages,
    )
    return prepared.order_by("-created_at").first()
