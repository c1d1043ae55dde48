"""The lists of runs that figures of the admin lead to."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse


def counted_runs_url(since: datetime, **filters: Any) -> str:
    """Return the list of the runs that ended since then, without imported ones, which figures do not count."""
    given = {**filters, "ended_at__gte": since.isoformat(), "is_imported__exact": 0}
    return f"{reverse('admin:chat_run_changelist')}?{urlencode(given)}"
