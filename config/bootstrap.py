"""Prepares a start, between the start of the services and that of the workers; run by the launcher.

Collects the static files, waits for Postgres and Valkey, migrates, creates the demo user (only with DEBUG) and stores
the configured models. Every step is idempotent.
"""

import os
import sys

import django

from config import embedded


def main(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.conf import settings
    from django.core.management import call_command

    django.setup()
    from knowledge.search.vector_extension import warn_of_absence

    # The services start meanwhile.
    call_command("collectstatic", interactive=False, verbosity=0)
    if "--embedded-postgres" in arguments:
        embedded.wait_for_postgres(embedded.Server("postgres", [], url=settings.DATABASE_URL))
    if "--embedded-valkey" in arguments:
        embedded.wait_for_valkey(embedded.Server("valkey", [], url=settings.REDIS_URL))
    call_command("migrate", interactive=False, verbosity=0)
    warn_of_absence(sys.stderr.write)  # call_command() makes no checks
    if settings.DEVELOPMENT:
        create_demo_user()
    # llama_cpp.server answers one request after another.
    one_at_once = ["--max-requests", "1"] if "--local-model" in arguments else []
    call_command("sync_models", *(["--demo"] if "--demo" in arguments else one_at_once))


def create_demo_user() -> None:
    from django.contrib.auth.models import User

    from web.accounts import DEMO

    if not User.objects.filter(username=DEMO).exists():
        User.objects.create_superuser(DEMO, password=DEMO)  # public, and closed outside DEBUG


if __name__ == "__main__":
    main(sys.argv[1:])
