"""The rules by which a login with the provider gets into an account, and the page of a refusal: decision 0080.

An account is found by issuer and subject. An account that nobody can enter by a password is also found, once, by an
e-mail address that the provider has verified. Anybody else needs what REGISTRATION requires.
"""

import logging
import re
import time
import unicodedata
from itertools import count
from typing import Any, Final, NamedTuple

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from knox.models import AuthToken

from chat.models import Invitation
from features.accounts.logins import end_logins
from features.accounts.oidc_identity import Identity
from features.accounts.passwords import CONFIRMED_AT, FRESH_FOR_S, has_password
from features.accounts.registration import complete_registration, is_setup_token, needs_first_admin
from features.accounts.staff_groups import follow_claim, follow_groups
from web.accounts import DEMO, accounts_at, may_log_in

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

# Lengths of the columns of the user table.
MAX_NAME_CHARACTERS: Final = 150
MAX_EMAIL_CHARACTERS: Final = 254


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


def confirm(request: HttpRequest, login: Any, purpose: str, user: int | None) -> HttpResponse:
    """Connect the provider with the account, or record the confirmation; return the redirect. Raises LoginRefused.
    user: id of the user who started the login.
    """
    if user is None or request.user.pk != user:
        raise LoginRefused("logged_out")
    here = {"provider": settings.OIDC_ISSUER, "uid": login.identity.subject}
    owner = SocialAccount.objects.filter(**here).values_list("user", flat=True).first()
    if owner is not None and owner != user:
        raise LoginRefused("other_account")
    if purpose == "again":
        if owner is None:
            raise LoginRefused("other_account")
        _check_age(login.identity.authenticated_at)
        request.session[CONFIRMED_AT] = time.time()
    else:
        _connect(user, here)
    return HttpResponseRedirect(login.get_redirect_url(request))


def _connect(user: int, here: dict[str, str]) -> None:
    if SocialAccount.objects.filter(user=user, provider=here["provider"]).exists():
        raise LoginRefused("connected")
    try:
        with transaction.atomic():
            SocialAccount.objects.create(user_id=user, **here)
    except IntegrityError:
        # Another account was connected at the same time.
        raise LoginRefused("other_account") from None


def _check_age(authenticated_at: float | None) -> None:
    """Refuse a login that is too old.
    A provider may ignore `max_age` and accept its existing session, which confirms nothing.
    """
    if authenticated_at is not None and time.time() - authenticated_at > FRESH_FOR_S:
        raise LoginRefused("failed")


class Intent(NamedTuple):
    """The purpose for which a login was started.
    purpose: login, invitation, setup, connect, again. token: of the link. user: id of the logged-in user.
    """

    purpose: str = "login"
    token: str = ""
    user: int | None = None


def admit(request: HttpRequest, login: Any) -> HttpResponse | None:
    """Set the user of allauth's login, or return the response that ends it. Raises LoginRefused."""
    intent = Intent(*login.state["data"])
    if intent.purpose in ("connect", "again"):
        return confirm(request, login, intent.purpose, intent.user)
    if request.user.is_authenticated:
        # The user has logged in in another tab meanwhile. A link that somebody else made must not change a login.
        return HttpResponseRedirect(login.get_redirect_url(request))
    with transaction.atomic():
        # The lock: of concurrent logins one creates the account; of admins who lose their rights concurrently one keeps
        # them.
        ContentType.objects.select_for_update().get(app_label="auth", model="user")
        user = _account_of(login.identity, intent)
        if not may_log_in(user):
            raise LoginRefused("inactive")
        if intent.purpose == "setup":
            _make_first_admin(user, intent.token)
        follow_claim(user, login.identity)
    follow_groups(user)
    login.user = user
    return None


def _account_of(identity: Identity, intent: Intent) -> User:
    here = {"provider": settings.OIDC_ISSUER, "uid": identity.subject}
    connected = SocialAccount.objects.filter(**here).select_related("user").first()
    if connected is not None:
        return connected.user  # type: ignore[no-any-return]
    user = _waiting_account(identity.email) or _new_account(identity, intent)
    SocialAccount.objects.create(user=user, **here)
    return user


def _waiting_account(email: str) -> User | None:
    """Return the account with this address if nobody can have entered it by password or with the provider, else None."""
    accounts = list(accounts_at(email).exclude(username=DEMO)[:2])
    if len(accounts) != 1:
        return None
    user = accounts[0]
    if has_password(user) or SocialAccount.objects.filter(user=user, provider=settings.OIDC_ISSUER).exists():
        return None
    if user.has_usable_password():
        # The password is not accepted now, but once was, for whoever typed this address into a profile: what that person
        # has left would be accepted again as soon as the account has a password.
        user.set_unusable_password()
        User.objects.filter(pk=user.pk).update(password=user.password)
        AuthToken.objects.filter(user=user).delete()
        Authenticator.objects.filter(user=user).delete()
        end_logins(user)
    return user


def _new_account(identity: Identity, intent: Intent) -> User:
    invitation = _check_admission(intent)
    email = (invitation.email if invitation else "") or identity.email
    if accounts_at(email).exists():
        raise LoginRefused("address_taken")
    user = User.objects.create(
        username=_free_name(identity),
        password=make_password(None),
        first_name=identity.first_name[:MAX_NAME_CHARACTERS],
        last_name=identity.last_name[:MAX_NAME_CHARACTERS],
        email=email if len(email) <= MAX_EMAIL_CHARACTERS else "",
    )
    complete_registration(user, invitation, "by OpenID Connect ")
    return user


def _check_admission(intent: Intent) -> Invitation | None:
    """Use and return the invitation that admits the person; None if none is needed. Raises LoginRefused."""
    if intent.purpose == "invitation":
        invitation = Invitation.objects.behind(intent.token)
        if (
            invitation is None
            or settings.REGISTRATION == "closed"
            or not Invitation.objects.use(invitation.pk)
        ):
            raise LoginRefused("invitation")
        return invitation
    if intent.purpose != "setup" and settings.REGISTRATION != "open":
        raise LoginRefused("closed")
    return None


def _make_first_admin(user: User, token: str) -> None:
    if not (is_setup_token(token) and needs_first_admin()):
        raise LoginRefused("invitation")
    user.is_staff = user.is_superuser = True
    User.objects.filter(pk=user.pk).update(is_staff=True, is_superuser=True)


def _free_name(identity: Identity) -> str:
    """Return a free user name made from the provider's claims.
    Unsupported characters are replaced, and a number is added if the name is taken, or looks as one that is: the
    database's own folding, as in Django's form, which refuses more names than web/accounts.py finds.
    """
    wanted = identity.username or identity.email.partition("@")[0]
    base = re.sub(r"[^\w.@+-]+", "-", unicodedata.normalize("NFKC", wanted))[:140].strip("-") or "user"
    names = (base if number == 1 else f"{base}-{number}" for number in count(1))
    return next(
        name
        for name in names
        if name.casefold() != DEMO and not User.objects.filter(username__iexact=name).exists()
    )
