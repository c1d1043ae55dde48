"""Sending of e-mail from one thread of the process, and e-mails that warn the owner of an account.
No request waits for a mail server, or reveals by its duration what it sends.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.core.mail import send_mail
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import translation

from chat.infrastructure.background import with_connection
from chat.infrastructure.log_context import in_context
from chat.models import Login, LoginLimit
from chat.protocol.errors import ApiError
from features.accounts.login_attempt import RETRY_AFTER_S, address_of
from web.accounts import charge, spend

logger = logging.getLogger(__name__)

# (e-mails at once, seconds after which one more is allowed), so that nobody's mailbox is flooded.
PER_RECIPIENT: Final = (3, 600)
PER_ADDRESS: Final = (10, 60)
# E-mails of this process that are being sent or waiting.
MAX_WAITING: Final = 100
A_DAY_S: Final = 86_400

_sender: Final = ThreadPoolExecutor(1, thread_name_prefix="mail")
_places: Final = threading.BoundedSemaphore(MAX_WAITING)


def charge_mail(request: HttpRequest, recipient: str) -> None:
    """Charge one e-mail to its recipient and to the client's address. Raises ApiError if a limit is reached."""
    spend([
        charge(PER_RECIPIENT, "recipient", recipient.casefold()),
        charge(PER_ADDRESS, "sender", address_of(request)),
    ])  # fmt: skip
    LoginLimit.objects.purge()


def send_later(send: Callable[[], object]) -> None:
    """Have the thread call send() in the current language, and log failures. Raises ApiError if too many wait."""
    if not _places.acquire(blocking=False):
        raise ApiError("login_busy", retry_after_s=RETRY_AFTER_S)
    language = translation.get_language()

    def attempt() -> None:
        try:
            with translation.override(language):
                send()
        except Exception:
            logger.exception("an e-mail was not sent")
        finally:
            _places.release()

    _sender.submit(in_context(with_connection), attempt)


def send_mail_of(template: str, address: str, context: dict[str, Any]) -> None:
    """Send the e-mail of accounts/<template>_mail.txt and its subject template, in the active language of the thread."""
    subject = render_to_string(f"accounts/{template}_mail_subject.txt", context).strip()
    send_mail(subject, render_to_string(f"accounts/{template}_mail.txt", context), None, [address])


def warn_of_wrong_codes(user: Any) -> None:
    """Tell the owner that somebody used the right password with a wrong second factor. Once a day at most."""
    if (
        _has_address(user)
        and LoginLimit.objects.spend([charge((1, A_DAY_S), "told of codes", str(user.pk))]) is None
    ):
        _send("wrong_codes", user)


def notify_of_passkeys(user: Any) -> None:
    """Tell the owner that a passkey was added or removed."""
    if _has_address(user):
        _send("passkeys", user)


def _has_address(user: Any) -> bool:
    return bool(settings.EMAIL_HOST and user.email)


def _send(template: str, user: Any) -> None:
    """Send the e-mail in the language in which the account was last used."""
    with translation.override(Login.objects.language_of(user) or settings.LANGUAGE_CODE):
        try:
            send_later(partial(send_mail_of, template, user.email, {"name": user.get_username()}))
        except ApiError:
            # The event itself has happened and is logged.
            logger.warning("user %s is not told by e-mail: too many wait", user.pk)
