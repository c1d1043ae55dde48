"""manage.py create_token NAME [--read-only] [--days N]: prints a new API token of a user and nothing else.

Older tokens stay valid.
"""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.models import Scope, TokenScope


class Command(BaseCommand):
    help = "Prints a new API token of a user."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--read-only", action="store_true", help="The token changes nothing.")
        parser.add_argument("--days", type=int, help="The token expires after so many days.")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = User.objects.filter(username=User.normalize_username(options["name"])).first()
        if user is None:
            raise CommandError(f"There is no user {options['name']}.")
        scope = Scope.READ if options["read_only"] else Scope.WRITE
        _row, token = TokenScope.objects.create_token(user, scope, expires_in_days=options["days"])
        self.stdout.write(token)
