"""App configurations: the admin's site, what every process installs, and how long `migrate` waits for a lock.

Everybody who needs a table waits behind a migration that waits for its lock. A startup option is no alternative: a pooler may refuse it, and `make
run` does not have it.
"""

import faulthandler
import sys
from typing import Any, Final

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.contrib.staticfiles import apps as staticfiles
from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate
from django.utils.module_loading import autodiscover_modules

from config import environment as env
from config.database_timeouts import role_of
from knowledge.migration_operations import LOCK_TIMEOUT

# A limit that the operator has set for the connection takes precedence.
_LIMIT: Final = "SELECT set_config('lock_timeout', %s, FALSE) WHERE current_setting('lock_timeout') = '0'"


def limit_lock_waits(sender: Any) -> None:
    """Connect the signals of `migrate`. sender: the app for which Django sends each of them once."""
    pre_migrate.connect(_limit, sender=sender, dispatch_uid="limit lock waits")
    post_migrate.connect(_reset, sender=sender, dispatch_uid="reset lock waits")


def _limit(*, using: str, **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute(_LIMIT, [LOCK_TIMEOUT])


def _reset(*, using: str, **_: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("RESET lock_timeout")


class CommandsConfig(AppConfig):
    """Makes the management commands of this folder known."""

    name = "config"


class TurnwireAdminConfig(AdminConfig):
    default_site = "features.accounts.admin_site.AccountsSite"

    def ready(self) -> None:
        super().ready()
        from config import secret_filter
        from web.admin import translate_tables

        translate_tables()
        secret_filter.install()
        limit_lock_waits(self)
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
