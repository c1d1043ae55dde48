"""App configurations: the admin's site (web/admin_site.py), what every process installs, which static files are collected."""

from django.contrib.admin.apps import AdminConfig
from django.contrib.staticfiles import apps as staticfiles


class TurnwireAdminConfig(AdminConfig):
    default_site = "web.admin_site.Site"

    def ready(self) -> None:
        super().ready()
        from config import secret_filter

        secret_filter.install()


class StaticFilesConfig(staticfiles.StaticFilesConfig):
    # Two thirds of all bytes, which no page loads: source maps, ReDoc and the browsable API.
    ignore_patterns = [
        *staticfiles.StaticFilesConfig.ignore_patterns,
        "*.map",
        "redoc",
        "rest_framework",
    ]
