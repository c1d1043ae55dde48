"""The rules by which a login with the provider gets into an account: decision 0139.

An account is found by issuer and subject. An account that nobody can enter by a password is also found, once, by an
e-mail address that the provider has verified. Anybody else needs what REGISTRATION requires.
"""

import re
import unicodedata
from itertools import count
from typing import Any, Final, NamedTuple

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from knox.models import AuthToken

from chat.models import Invitation
from features.accounts.claimed_groups import follow_claim
from features.accounts.first_admin import is_setup_token, needs_first_admin
from features.accounts.logins import end_logins
from features.accounts.new_account import complete_registration
from features.accounts.oidc_confirmation import confirm
from features.accounts.oidc_identity import Identity
from features.accounts.oidc_refusals import LoginRefused
from features.accounts.reauthentication import has_password
from features.accounts.staff_groups import follow_groups
from web.account_lookup import accounts_at
from web.demo_account import DEMO, may_log_in

# Lengths of the columns of the user table.
MAX_NAME_CHARACTERS: Final = 150
MAX_EMAIL_CHARACTERS: Final = 254


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
    found = list(accounts_at(email).exclude(username=DEMO)[:2])
    if len(found) != 1:
        return None
    user = found[0]
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
    database's own folding, as in Django's form, which refuses more names than account_lookup.py finds.
    """
    wanted = identity.username or identity.email.partition("@")[0]
    base = re.sub(r"[^\w.@+-]+", "-", unicodedata.normalize("NFKC", wanted))[:140].strip("-") or "user"
    names = (base if number == 1 else f"{base}-{number}" for number in count(1))
    return next(
        name
        for name in names
        if name.casefold() != DEMO and not User.objects.filter(username__iexact=name).exists()
    )
