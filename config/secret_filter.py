"""Keeps secrets out of reports: log records with their tracebacks, error mails and error pages of Django.

A secret is found by its value, wherever it stands: a password of a service's address, SECRET_KEY, a key of a model or a
provider of models. The token of a link is found by the path before it.
"""

import functools
import logging
import os
import re
import traceback
from collections.abc import ItemsView, Iterable
from types import FrameType
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter

from chat.infrastructure.encryption import known_secrets

REDACTED: Final = "[redacted]"
# A shorter value occurs in ordinary texts.
SHORTEST_SECRET: Final = 6
# Names of settings, variables and fields whose values are secret.
SECRET_NAME: Final = re.compile(
    r"API|AUTH|TOKEN|KEY|SECRET|PASS|SIGNATURE|COOKIE|CREDENTIAL|SESSIONID", re.IGNORECASE
)
SECRET_VARIABLE: Final = re.compile(r"KEY|SECRET|PASS|TOKEN", re.IGNORECASE)
# User and password in an address.
CREDENTIALS: Final = re.compile(r"(?<=://)[^\s/@\"'<>]{1,500}@")
# The token in the path of a page (page.py of accounts and sharing), which is as good as a password until the link is used or ends.
_LINK: Final = re.compile(
    r"(/(?:password/link/[^/\s]+|profile/address|register/(?:invited|confirmed)|setup|shared)/)[^/\s]{20,}"
)

# The row or the key that a constraint of Postgres refuses.
_REFUSED_ROW: Final = re.compile(
    r"(DETAIL:\s+)(?:Failing row contains|Key) \(.*?\)[^()\n]*\.(?=\n|\Z)", re.DOTALL
)


def redact(text: str) -> str:
    """Return the text without the secrets of this process, passwords in addresses, tokens of links and rows that
    Postgres refuses.
    """
    for secret in (*secrets_of_process(), *_as_secrets(known_secrets())):
        text = text.replace(secret, REDACTED)
    text = _LINK.sub(rf"\1{REDACTED}", text)
    text = _REFUSED_ROW.sub(rf"\1{REDACTED}", text)
    return CREDENTIALS.sub(f"{REDACTED}@", text)


@functools.lru_cache(maxsize=1)
def secrets_of_process() -> tuple[str, ...]:
    """Return the values that no report may contain, the longest first."""
    names = ("DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL", "STORAGE_URL", "EMAIL_URL")
    addresses = (getattr(settings, name) for name in names)
    variables = (value for name, value in os.environ.items() if SECRET_VARIABLE.search(name))
    return _as_secrets([settings.SECRET_KEY, *settings.SECRETS_KEYS, *_passwords(addresses), *variables])


def _as_secrets(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if len(value) >= SHORTEST_SECRET}, key=len, reverse=True))


def _passwords(addresses: Iterable[str]) -> Iterable[str]:
    for address in addresses:
        password = urlsplit(address).password or ""
        yield from (password, unquote(password))


def install() -> None:
    """Redact every log record of this process, whichever handler writes it. Idempotent."""
    logging.setLogRecordFactory(RedactedRecord)


class RedactedRecord(logging.LogRecord):
    """A log record whose message and traceback contain no secret."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self.exc_info and self.exc_info[0] is not None:
            # Formatters use this text instead of formatting the exception themselves.
            self.exc_text = redact("".join(traceback.format_exception(*self.exc_info)).rstrip("\n"))

    def getMessage(self) -> str:  # noqa: N802  the name is logging's
        return redact(super().getMessage())


class ReportFilter(SafeExceptionReporterFilter):
    """The filter of Django's error reports: DEFAULT_EXCEPTION_REPORTER_FILTER."""

    cleansed_substitute = REDACTED
    hidden_settings = SECRET_NAME

    def cleanse_setting(self, key: Any, value: Any) -> Any:
        """Hide values by name, as Django does, and secrets by value in any text."""
        cleansed = super().cleanse_setting(key, value)
        return redact(cleansed) if isinstance(cleansed, str) else cleansed

    def is_active(self, request: HttpRequest | None) -> bool:  # noqa: ARG002
        return True

    def get_post_parameters(self, request: HttpRequest | None) -> dict[str, Any]:
        cleansed = super().get_post_parameters(request)
        return {name: self.cleanse_setting(name, value) for name, value in cleansed.items()}

    def get_traceback_frame_variables(
        self, request: HttpRequest | None, tb_frame: FrameType
    ) -> ItemsView[str, Any]:
        variables = super().get_traceback_frame_variables(request, tb_frame)
        return {name: self._cleansed_variable(name, value) for name, value in variables}.items()

    def _cleansed_variable(self, name: str, value: object) -> object:
        if SECRET_NAME.search(name):
            return REDACTED
        try:
            shown = repr(value)
        except Exception as error:  # noqa: BLE001  any class may fail to describe itself, and a report must not
            return f"{type(error).__name__} in repr()"
        cleansed = redact(shown)
        return value if cleansed == shown else cleansed
