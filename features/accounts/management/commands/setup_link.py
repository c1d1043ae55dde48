"""manage.py setup_link prints a link to the page that creates the first admin. The start of an instance runs it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from features.accounts.passwords import password_link_lifetime
from features.accounts.registration import make_setup_link, needs_first_admin
from web.site_origin import site_url


class Command(BaseCommand):
    help = "Prints a link to make the first admin."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--if-needed", action="store_true", help="Prints nothing if there is an admin already."
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if needs_first_admin():
            self.stdout.write(
                f"no account is staff yet: make the first admin at {site_url(make_setup_link())}"
                f"  (valid for {password_link_lifetime()}; anew: manage.py setup_link)"
            )
        elif not options["if_needed"]:
            raise CommandError("There is an account for the admin already.")
