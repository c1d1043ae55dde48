"""manage.py create_token NAME: prints a new API token of a user and nothing else. --help lists what limits it.

Older tokens stay valid.
"""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.models import Agent, Scope, TokenScope
from chat.protocol.errors import ApiError
from features.accounts.api import NewTokenBody, token_columns


class Command(BaseCommand):
    help = "Prints a new API token of a user."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        scope = parser.add_mutually_exclusive_group()
        scope.add_argument("--read-only", action="store_true", help="The token changes nothing.")
        scope.add_argument(
            "--chat-only", action="store_true", help="The token is for /agui and the routes below /v1/ alone."
        )
        scope.add_argument("--agent", metavar="NAME", help="The token is for one agent of the user, there.")
        parser.add_argument("--days", type=int, help="The token expires after so many days.")
        parser.add_argument("--label", default="", help="What the token is for.")
        parser.add_argument("--tokens-per-day", type=int, help="Of the answers to the token, per day (UTC).")
        parser.add_argument("--cost-per-day", type=float, help="Of the answers to the token, per day (UTC).")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = User.objects.filter(username=User.normalize_username(options["name"])).first()
        if user is None:
            raise CommandError(f"There is no user {options['name']}.")
        scope = Scope.READ if options["read_only"] else Scope.CHAT if options["chat_only"] else Scope.WRITE
        limits = {name: options[name] for name in ("tokens_per_day", "cost_per_day")}
        sent = {"name": options["label"], "scope": scope.value, **limits}
        if options["agent"] is not None:
            agent = Agent.objects.visible_to(user).filter(name=options["agent"]).first()
            if agent is None:
                raise CommandError(f"{options['name']} has no agent “{options['agent']}”.")
            sent |= {"scope": Scope.AGENT.value, "agent": str(agent.pk)}
        try:
            columns = token_columns(user, NewTokenBody.parse(sent))
        except ApiError as error:
            raise CommandError(f"{error.field}: {error.message}") from None
        _row, token = TokenScope.objects.create_token(user, expires_in_days=options["days"], **columns)
        self.stdout.write(token)
