"""Sending of e-mail from one thread of the process.
No request waits for a mail server, or reveals by its duration what it sends.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from django.http import HttpRequest
from django.utils import translation

from chat.infrastructure.log_context import in_context
from chat.infrastructure.threads import with_connection
from chat.models import LoginLimit
from chat.protocol.errors import ApiError
from features.accounts.login_attempt import address_of
from features.accounts.password_hashing import RETRY_AFTER_S
from web.attempt_limits import charge, spend

logger = logging.getLogger(__name__)

# (e-mails at once, seconds after which one more is allowed), so that nobody's mailbox is flooded.
PER_RECIPIENT: Final = (3, 600)
PER_ADDRESS: Final = (10, 60)
# E-mails of this process that are being sent or waiting.
MAX_WAITING: Final = 100

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
