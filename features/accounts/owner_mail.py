"""E-mails that tell the owner of an account what others may be doing with it.
They are written in the language in which the account was last used.
"""

import logging
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.utils import translation

from chat.models import Login, LoginLimit
from chat.protocol.errors import ApiError
from features.accounts.address_confirmation import send_mail_of
from features.accounts.mail import send_later
from web.attempt_limits import charge

logger = logging.getLogger(__name__)

A_DAY_S: Final = 86_400


def tell_wrong_codes(user: Any) -> None:
    """Tell the owner that somebody used the right password with a wrong second factor. Once a day at most."""
    if (
        _has_address(user)
        and LoginLimit.objects.spend([charge((1, A_DAY_S), "told of codes", str(user.pk))]) is None
    ):
        _send("wrong_codes", user)


def tell_passkeys(user: Any) -> None:
    """Tell the owner that a passkey was added or removed."""
    if _has_address(user):
        _send("passkeys", user)


def _has_address(user: Any) -> bool:
    return bool(settings.EMAIL_HOST and user.email)


def _send(template: str, user: Any) -> None:
    with translation.override(Login.objects.language_of(user) or settings.LANGUAGE_CODE):
        try:
            send_later(partial(send_mail_of, template, user.email, {"name": user.get_username()}))
        except ApiError:
            # The event itself has happened and is logged.
            logger.warning("user %s is not told by e-mail: too many wait", user.pk)
