"""manage.py create_token NAME: prints a new API token of a user and nothing else. --help lists what limits it.

Older tokens stay valid.
"""

from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.models import Agent, Scope, TokenScope


class Command(BaseCommand):
    help = "Prints a new API token of a user."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        scope = parser.add_mutually_exclusive_group()
        scope.add_argument("--read-only", action="store_true", help="The token changes nothing.")
        scope.add_argument(
            "--chat-only", action="store_true", help="The token is for the routes below /v1/ alone."
        )
        scope.add_argument(
            "--agent", metavar="NAME", help="The token is for one agent of the user, below /v1/."
        )
        parser.add_argument("--days", type=int, help="The token expires after so many days.")
        parser.add_argument("--label", default="", help="What the token is for.")
        parser.add_argument("--tokens-per-day", type=int, help="Of the answers to the token, per day (UTC).")
        parser.add_argument(
            "--cost-per-day", type=Decimal, help="Of the answers to the token, per day (UTC)."
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        user = User.objects.filter(username=User.normalize_username(options["name"])).first()
        if user is None:
            raise CommandError(f"There is no user {options['name']}.")
        scope = Scope.READ if options["read_only"] else Scope.CHAT if options["chat_only"] else Scope.WRITE
        agent = None
        if name := options["agent"]:
            scope = Scope.AGENT
            agent = Agent.objects.visible_to(user).filter(name=name).first()
            if agent is None:
                raise CommandError(f"{options['name']} has no agent {name}.")
        limits = {name: options[name] for name in ("tokens_per_day", "cost_per_day")}
        if any(limit is not None and limit <= 0 for limit in limits.values()):
            raise CommandError("A limit is above 0.")
        _row, token = TokenScope.objects.create_token(
            user, scope, name=options["label"], expires_in_days=options["days"], agent=agent, **limits
        )
        self.stdout.write(token)
