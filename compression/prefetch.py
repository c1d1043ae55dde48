"""Summaries written before they are needed (COMPRESSION_AHEAD), stored in their compression's row.

They stay outside the message tree until the history crosses the trigger, and are then stored without another request.
"""

from collections.abc import Sequence
from uuid import UUID

from django.conf import settings

from chat.models import Compression, CompressionStatus
from compression.plan import CompressionParams, Row


def is_nearly_due(params: CompressionParams) -> bool:
    """Return whether a summary should be prepared. Always False while COMPRESSION_AHEAD is off."""
    limit = settings.COMPRESSION_AHEAD_RATIO * params.history_window
    return settings.COMPRESSION_AHEAD and params.history_tokens > limit


def find_prepared(held: Compression, rows: Sequence[Row]) -> Compression | None:
    """Return the newest summary prepared for this branch and model.
    rows: the rows after the cutoff of the summary in use."""
    if not settings.COMPRESSION_AHEAD:
        return None
    messages = [UUID(row.entry.id) for row in rows]
    prepared = Compression.objects.filter(
        session=held.session_id,
        # A summary of another model was prepared for another window.
        model=held.model,
        status=CompressionStatus.PREPARED,
        parent__in=messages,
        prepared_cutoff__in=messages,
    )
    return prepared.order_by("-created_at").first()
