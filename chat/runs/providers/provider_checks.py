"""Requests checks of providers: a worker lists the models and tries one
(llm_worker/side_requests/provider_check.py)."""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import uuid4

from chat.models import Provider
from chat.protocol.errors import ApiError
from chat.protocol.tasks import CHECK_PROVIDER, DEFAULT_QUEUE
from chat.runs.task_queue import UNREACHABLE, send_message

# Within this time, a check that has not ended is not requested again.
PATIENCE: Final = timedelta(seconds=30)


def request_check(provider: Provider, model: str | None = None) -> None:
    """Request a check, unless one is pending. Raises ApiError.
    model: its name at the server; empty to try none; None to try an enabled model, if there is one."""
    now = datetime.now(UTC)
    if _is_pending(provider, now):
        return
    if model is None:
        enabled = provider.models.filter(enabled=True).order_by("-is_default", "name").first()
        model = enabled.name_at_server if enabled else ""
    check = {"id": str(uuid4()), "status": "queued", "requested_at": now.isoformat(), "model": model}
    if not Provider.objects.existing().filter(pk=provider.pk).update(latest_check=check):
        raise ApiError("provider_not_found")
    try:
        send_message(CHECK_PROVIDER, DEFAULT_QUEUE, provider_id=str(provider.pk), check_id=str(check["id"]))
    except UNREACHABLE:
        Provider.objects.filter(pk=provider.pk, latest_check__id=check["id"]).update(latest_check=None)
        raise ApiError("stream_unavailable", "The check cannot be requested at the moment.") from None
    provider.latest_check = check


def _is_pending(provider: Provider, now: datetime) -> bool:
    check = provider.latest_check
    if not check or check["status"] == "done":
        return False
    return now - datetime.fromisoformat(check["requested_at"]) < PATIENCE
