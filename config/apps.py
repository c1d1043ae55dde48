"""App configurations: the admin's site, what every process installs, and the static files that are collected."""

import faulthandler
import sys

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.contrib.staticfiles import apps as staticfiles
from django.utils.module_loading import autodiscover_modules

from config import environment as env
from config.database_timeouts import role_of


class CommandsConfig(AppConfig):
    """Makes the management commands of this folder known."""

    name = "config"


class TurnwireAdminConfig(AdminConfig):
    default_site = "features.accounts.admin_site.AccountsSite"

    def ready(self) -> None:
        super().ready()
        from config import migration_locks, secret_filter
        from web.admin import translate_tables

        translate_tables()
        secret_filter.install()
        migration_locks.install(self)
        autodiscover_modules("checks", "turn_part")
        import web.page.preview  # noqa: F401

        check_role()


def check_role() -> None:
    """End this process if these services and settings do not allow what its command line asks for."""
    role = role_of(sys.argv)
    if role:
        from config import refused_services

        # A crash of native code, which no process survives, names the place in Python.
        faulthandler.enable()
        refused_services.check()
    if role == "ingest":
        from ingest import ocr

        if problem := ocr.find_problem():
            env.fail("OCR", problem)


class StaticFilesConfig(staticfiles.StaticFilesConfig):
    # Two thirds of all bytes, and no page loads them: source maps, ReDoc and the browsable API.
    ignore_patterns = [
        *staticfiles.StaticFilesConfig.ignore_patterns,
        "*.map",
        "redoc",
        "rest_framework",
    ]
