"""The admin's frame: its name, and the pages that belong to no single table (usage, workers).

Not in web/admin/: Django makes the site while it imports that.
"""

from typing import Any, Final

from django.contrib import admin
from django.http import HttpRequest
from django.urls import path, reverse
from django.utils.translation import gettext_lazy as _

# What must be allowed to whoever reads the pages over all runs.
PERMISSION: Final = "chat.view_run"
OVERVIEWS: Final = {"usage": _("Usage"), "workers": _("Queues and workers")}


class Site(admin.AdminSite):
    site_header = site_title = "Turnwire"
    index_title = _("Administration")

    def get_urls(self) -> list[Any]:
        from web.admin.usage_page import page as usage  # these import the models
        from web.admin.workers_page import page as workers

        return [
            path("usage/", self.admin_view(usage), name="usage"),
            path("workers/", self.admin_view(workers), name="workers"),
            *super().get_urls(),
        ]

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Chats first: the rest is accounts."""
        apps: list[Any] = sorted(
            super().get_app_list(request, app_label), key=lambda app: app["app_label"] != "chat"
        )
        for app in apps:
            if app["app_label"] == "knox":
                app["name"] = _("API tokens")
        if request.user.has_perm(PERMISSION):
            for app in apps:
                if app["app_label"] == "chat":
                    app["models"] = [*map(_entry, OVERVIEWS), *app["models"]]
        return apps


def _entry(name: str) -> dict[str, Any]:
    """As Django lists a table."""
    return {
        "name": OVERVIEWS[name],
        "object_name": name,
        "admin_url": reverse(f"admin:{name}"),
        "add_url": None,
        "view_only": True,
        "perms": {"view": True},
    }
