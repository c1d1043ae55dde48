"""Ids and times as strings, as they stand in the JSON that clients receive."""

from datetime import UTC, datetime
from typing import Any

JSONObject = dict[str, Any]


def isoformat_utc(moment: datetime) -> str:
    """Format a time as ISO 8601, in UTC."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def isoformat_or_none(moment: datetime | None) -> str | None:
    return isoformat_utc(moment) if moment else None
