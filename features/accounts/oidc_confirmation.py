"""Logins with the provider by a logged-in user: to connect it with the account, or to confirm the identity."""

import time
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from features.accounts.oidc_refusals import LoginRefused
from features.accounts.reauthentication import CONFIRMED_AT, MAX_AGE_S


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
    if authenticated_at is not None and time.time() - authenticated_at > MAX_AGE_S:
        raise LoginRefused("failed")
