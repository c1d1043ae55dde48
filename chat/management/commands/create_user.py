"""manage.py create_user NAME --password PASSWORD [--staff]: creates a user."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError, transaction


class Command(BaseCommand):
    help = "Creates a user."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--password", required=True)
        parser.add_argument("--staff", action="store_true", help="Gives all rights in the admin.")

    def _check(self, name: str, password: str) -> None:
        try:
            validate_password(password, User(username=name))
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None

    def handle(self, *_args: Any, **options: Any) -> None:
        # The form of the name that the login compares.
        name = User.normalize_username(options["name"])
        if User.objects.filter(username=name).exists():
            raise _name_in_use(name)
        if not settings.DEVELOPMENT:
            self._check(name, options["password"])
        create = User.objects.create_superuser if options["staff"] else User.objects.create_user
        try:
            with transaction.atomic():
                create(name, password=options["password"])
        except IntegrityError:  # created meanwhile
            raise _name_in_use(name) from None


def _name_in_use(name: str) -> CommandError:
    return CommandError(f"There is a user {name} already.")
