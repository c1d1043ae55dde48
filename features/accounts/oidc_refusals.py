"""The page that explains why a login with the provider failed, and what to do."""

import logging
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

logger = logging.getLogger(__name__)

# The part of a provider's response that is logged.
MAX_CAUSE_CHARACTERS: Final = 300
# reason: (status, heading, what to do).
REASONS: Final = {
    "denied": (
        403,
        _("You are not logged in"),
        _("%(name)s has not let you in: the login was cancelled there, or you may not use this site."),
    ),
    "expired": (
        400,
        _("This login cannot be completed"),
        _("It was started too long ago, in another browser, or it has been completed already. Start again."),
    ),
    "failed": (
        502,
        _("This login cannot be completed"),
        _("The answer of %(name)s was not accepted. Start again; if that does not help, tell an administrator."),
    ),
    "unreachable": (
        503,
        _("%(name)s does not answer"),
        _("Try again in a moment. Your chats are not affected."),
    ),
    "closed": (
        403,
        _("There is no account for you yet"),
        _("%(name)s knows you, but you have no account here. Ask an administrator for one."),
    ),
    "invitation": (
        404,
        _("This link is not valid"),
        _("It was used already, or it is too old. Ask for a new one."),
    ),
    "inactive": (
        403,
        _("Your account is closed"),
        _("An administrator can open it again."),
    ),
    "address_taken": (
        403,
        _("There is an account with your e-mail address"),
        _("Log in to it and connect %(name)s on your profile, or ask an administrator."),
    ),
    "other_account": (
        403,
        _("This login belongs to another account"),
        _("The person whom %(name)s has named is not the one who is logged in here."),
    ),
    "connected": (
        403,
        _("Your account is connected already"),
        _("An account has one login of %(name)s. Disconnect that one first."),
    ),
    "logged_out": (
        403,
        _("You are not logged in"),
        _("Your login has ended meanwhile. Start again."),
    ),
}  # fmt: skip


class LoginRefused(Exception):
    """The login is refused. reason: a key of REASONS."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def refuse(request: HttpRequest, reason: str, cause: Any = None) -> HttpResponse:
    """Log the cause and render the page of the reason. cause: for the log only."""
    logger.warning(
        "a login by OpenID Connect ended as %s: %s", reason, str(cause or "-")[:MAX_CAUSE_CHARACTERS]
    )
    status, heading, advice = REASONS[reason]
    named = {"name": settings.OIDC_NAME}
    context = {"heading": heading % named, "advice": advice % named}
    return render(request, "accounts/oidc_refused.html", context, status=status)
