"""Ends a start: prints a link to create the first admin, if there is none. Run by the launcher."""

import os

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import call_command

    django.setup()
    call_command("setup_link", if_needed=True)


if __name__ == "__main__":
    main()
