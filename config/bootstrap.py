"""Run once by the launcher between services and workers: wait for Postgres and Redis, migrate, make the demo
user (only when DEBUG), note the configured models. Every step may be repeated."""

import os
import sys

import django

from config import embedded


def main(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.conf import settings
    from django.core.management import call_command

    if "--embedded-postgres" in arguments:
        embedded.wait_for_postgres(embedded.Server("postgres", [], url=settings.DATABASE_URL))
    if "--embedded-valkey" in arguments:
        embedded.wait_for_valkey(embedded.Server("valkey", [], url=settings.REDIS_URL))
    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    if settings.DEBUG:
        make_demo_user()
    else:
        call_command("collectstatic", interactive=False, verbosity=0)
    call_command("sync_models", *(["--demo"] if "--demo" in arguments else []))


def make_demo_user() -> None:
    from django.contrib.auth.models import User

    if not User.objects.filter(username="demo").exists():
        User.objects.create_superuser("demo", password="demo")  # noqa: S106  known to all, only when DEBUG


if __name__ == "__main__":
    main(sys.argv[1:])
