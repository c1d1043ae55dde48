"""manage.py create_token NAME: prints a new API token of a user and nothing else. Older tokens stay valid."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from knox.models import AuthToken


class Command(BaseCommand):
    help = "Prints a new API token of a user."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["name"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['name']}.")
        _row, token = AuthToken.objects.create(user)
        self.stdout.write(token)
