"""The admin site: Django's, with the product's title and the overview pages (usage, workers).

Not in web/admin/: Django creates the site before it imports the models.
"""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import path, reverse
from django.utils.translation import gettext_lazy as _

from web.admin_overviews import OVERVIEWS, PERMISSION


class Site(admin.AdminSite):
    site_header = site_title = "Turnwire"
    index_title = _("Administration")

    def get_urls(self) -> list[Any]:
        from web.admin.usage_page import show_usage  # these import the models
        from web.admin.workers_page import show_workers

        return [
            path("usage/", self.admin_view(show_usage), name="usage"),
            path("workers/", self.admin_view(show_workers), name="workers"),
            *super().get_urls(),
        ]

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """List the chat tables and the overview pages first, accounts after them."""
        apps: list[Any] = sorted(
            super().get_app_list(request, app_label), key=lambda app: app["app_label"] != "chat"
        )
        for app in apps:
            if app["app_label"] == "knox":
                app["name"] = _("API tokens")
        if request.user.has_perm(PERMISSION):
            for app in apps:
                if app["app_label"] == "chat":
                    app["models"] = [*map(_overview_entry, OVERVIEWS), *app["models"]]
        return apps


def _overview_entry(name: str) -> dict[str, Any]:
    """Return an overview page in the shape in which Django lists a model."""
    return {
        "name": OVERVIEWS[name],
        "object_name": name,
        "admin_url": reverse(f"admin:{name}"),
        "add_url": None,
        "view_only": True,
        "perms": {"view": True},
    }
