"""manage.py create_token NAME: prints a new API token of a user and nothing else. --help lists what limits it.

Older tokens stay valid.
"""

from argparse import ArgumentTypeError
from decimal import Decimal, InvalidOperation
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.models import Agent, Scope, TokenScope
from chat.models.token_scope import MAX_NAME


def _tokens(text: str) -> int:
    return int(_bounded(Decimal(int(text)), least=1, most=2**53))


def _cost(text: str) -> Decimal:
    try:
        return _bounded(Decimal(text), least=Decimal("0.000001"), most=10**9)
    except InvalidOperation:
        raise ValueError(text) from None


def _bounded(value: Decimal, least: int | Decimal, most: int) -> Decimal:
    if not least <= value <= most:
        raise ArgumentTypeError(f"Between {least} and {most}.")
    return value


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
        parser.add_argument(
            "--tokens-per-day", type=_tokens, help="Of the answers to the token, per day (UTC)."
        )
        parser.add_argument("--cost-per-day", type=_cost, help="Of the answers to the token, per day (UTC).")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = User.objects.filter(username=User.normalize_username(options["name"])).first()
        if user is None:
            raise CommandError(f"There is no user {options['name']}.")
        scope = Scope.READ if options["read_only"] else Scope.CHAT if options["chat_only"] else Scope.WRITE
        agent = None
        if options["agent"] is not None:
            scope = Scope.AGENT
            agent = Agent.objects.visible_to(user).filter(name=options["agent"]).first()
            if agent is None:
                raise CommandError(f"{options['name']} has no agent “{options['agent']}”.")
        if len(options["label"]) > MAX_NAME:
            raise CommandError(f"A label has at most {MAX_NAME} characters.")
        limits = {name: options[name] for name in ("tokens_per_day", "cost_per_day")}
        _row, token = TokenScope.objects.create_token(
            user, scope, name=options["label"], expires_in_days=options["days"], agent=agent, **limits
        )
        self.stdout.write(token)
