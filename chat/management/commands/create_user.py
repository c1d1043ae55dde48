"""manage.py create_user NAME --password PASSWORD [--staff]: creates a user."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    help = "Creates a user."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--password", required=True)
        parser.add_argument("--staff", action="store_true", help="Gives all rights in the admin.")

    def handle(self, *_args: Any, **options: Any) -> None:
        name = options["name"]
        if User.objects.filter(username=name).exists():
            raise CommandError(f"There is a user {name} already.")
        if options["staff"]:
            User.objects.create_superuser(name, password=options["password"])
        else:
            User.objects.create_user(name, password=options["password"])
