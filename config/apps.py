"""App configurations: the admin's site (web/admin_site.py), what every process installs, which static files are collected."""

import sys

from django.contrib.admin.apps import AdminConfig
from django.contrib.staticfiles import apps as staticfiles

from config import environment as env
from config.database_timeouts import role_of


class TurnwireAdminConfig(AdminConfig):
    default_site = "web.admin_site.Site"

    def ready(self) -> None:
        super().ready()
        from config import migration_locks, secret_filter

        secret_filter.install()
        migration_locks.install(self)
        import web.accounts.oidc.checks
        import web.page.checks  # noqa: F401  registers them

        check_role()


def check_role() -> None:
    """End this process if what its command line says cannot be done with these services and settings."""
    role = role_of(sys.argv)
    if role:
        from config import refused_services

        refused_services.check()
    if role == "ingest":
        from ingest import ocr

        if problem := ocr.find_problem():
            env.fail("OCR", problem)


class StaticFilesConfig(staticfiles.StaticFilesConfig):
    # Two thirds of all bytes, which no page loads: source maps, ReDoc and the browsable API.
    ignore_patterns = [
        *staticfiles.StaticFilesConfig.ignore_patterns,
        "*.map",
        "redoc",
        "rest_framework",
    ]
