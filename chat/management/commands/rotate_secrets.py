"""manage.py rotate_secrets: encrypts all stored secrets with the first key of SECRETS_KEYS.

Afterwards the other keys can be removed.
"""

from collections.abc import Iterator
from typing import Any, Final

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.db import models

from chat.infrastructure import encryption

# With it begin the names of the columns that chat/infrastructure/encryption.py has encrypted, also those of features.
PREFIX: Final = "encrypted_"


def encrypted_columns() -> Iterator[tuple[type[models.Model], str]]:
    for table in apps.get_models():
        for field in table._meta.concrete_fields:  # noqa: SLF001  Django's documented model API
            if field.name.startswith(PREFIX):
                yield table, field.name


def unreadable() -> Iterator[str]:
    """Yield the rows whose secrets no key of SECRETS_KEYS decrypts."""
    for table, column in encrypted_columns():
        for row in table._default_manager.exclude(**{column: ""}):  # noqa: SLF001  Django's documented model API
            try:
                encryption.decrypt(getattr(row, column))
            except (encryption.UnreadableSecret, encryption.EncryptionUnavailable):
                yield f"{table._meta.verbose_name} {row}"  # noqa: SLF001


class Command(BaseCommand):
    help = "Encrypts all stored secrets with the first key of SECRETS_KEYS. Afterwards the other keys can be removed."

    def handle(self, *_args: Any, **_options: Any) -> None:
        if not encryption.is_available():
            raise CommandError("SECRETS_KEYS is not set.")
        rotated, unreadable = 0, []
        for table, column in encrypted_columns():
            for row in table._default_manager.exclude(**{column: ""}):  # noqa: SLF001  Django's documented model API
                encrypted = getattr(row, column)
                try:
                    # Unless it has changed since it was read.
                    same = table._default_manager.filter(pk=row.pk, **{column: encrypted})  # noqa: SLF001
                    rotated += same.update(**{column: encryption.rotate(encrypted)})
                except encryption.UnreadableSecret:
                    unreadable.append(f"{table._meta.verbose_name} {row}")  # noqa: SLF001
        self.stdout.write(f"{rotated} secrets are encrypted with the first key.")
        if unreadable:
            raise CommandError(f"No key of SECRETS_KEYS decrypts: {', '.join(unreadable)}. Enter these anew.")
