"""The admin of webhooks, read-only: who is told, and how the latest attempt ended. Secrets are not shown."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from features.webhooks.models import Webhook
from web.admin.read_only import ReadOnlyAdmin, visible_column

_url = visible_column(Webhook, "url")


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin[Webhook]):
    list_display = (
        "short_id",
        _url,
        "owner",
        "is_enabled",
        "last_attempt_at",
        "last_status",
        "last_error",
        "failures",
    )
    list_filter = ("is_enabled",)
    list_select_related = ("owner",)
    search_fields = ("url", "owner__username")

    def get_readonly_fields(self, request: HttpRequest, obj: Webhook | None = None) -> list[Any]:
        return [name for name in super().get_readonly_fields(request, obj) if name != "encrypted_secret"]
