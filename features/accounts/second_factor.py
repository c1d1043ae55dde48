"""The second factor of an account: whether it has one, which codes are right, each once, and the page that turns the app on and off.

allauth remembers used codes in a cache, which each process has of its own; here the row of the secret stores them.
"""

import base64
import hmac
import logging
import secrets
import time
from collections.abc import Callable
from typing import Any, Final

from allauth.mfa.adapter import DefaultMFAAdapter, get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.utils import decrypt, encrypt
from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.views.generic import FormView

from chat.models import LoginLimit
from features.accounts.login_attempt import PER_ADDRESS, address_of
from features.accounts.mail import warn_of_wrong_codes
from features.accounts.passwords import PasswordAgain, PasswordPage
from web.accounts import charge, spend

logger = logging.getLogger(__name__)

# (codes at once, seconds after which one more is allowed), by account: whoever has the password guesses one of a
# million.
PER_ACCOUNT: Final = (5, 60)
# In addition, by account and password: at most 60 wrong codes on the first day and 30 on each later day. Three of a
# million codes are right at a time, so a year of guessing succeeds with a probability of 3 %. A new password ends the
# guessing.
PER_PASSWORD: Final = (30, 2880)
PERIOD_S: Final = 30
DIGITS: Final = 6
SECRET_BYTES: Final = 20
# Tolerance for clock differences, in periods.
TOLERANCE: Final = 1
# In the row's data: the period of the last used code.
USED: Final = "used_period"
MAX_CODE_CHARACTERS: Final = 20
# In the session: the displayed secret, until a code proves that an app has it.
SECRET: Final = "second_factor_secret"  # noqa: S105  a name


class UnreadableSecret(Exception):
    """The secret was encrypted with a SECRET_KEY that is not known any more."""


class SecondFactors(DefaultMFAAdapter):  # type: ignore[misc]
    def encrypt(self, text: str) -> str:
        """Encrypt with a key derived from SECRET_KEY, so that a copy of the database alone yields no codes."""
        encrypted: bytes = _cipher().encrypt(text.encode())
        return encrypted.decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt a stored secret. Raises UnreadableSecret if no current or fallback SECRET_KEY fits."""
        from cryptography.fernet import InvalidToken

        try:
            text: bytes = _cipher().decrypt(encrypted_text.encode())
        except InvalidToken:
            raise UnreadableSecret from None
        return text.decode()

    def get_totp_label(self, user: object) -> str:
        return str(user)

    def get_totp_issuer(self) -> str:
        return "Turnwire"


def _cipher() -> Any:
    from cryptography.fernet import Fernet, MultiFernet  # other processes do not load it

    # The former path of this code: stored secrets are encrypted with a key of that name.
    keys = [
        salted_hmac("web.accounts.second_factor", "key", secret=secret, algorithm="sha256").digest()
        for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    ]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in keys])


def has_second_factor(user: Any) -> bool:
    """Return whether the login asks for a second factor: a code of an app, or a passkey."""
    factors = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
    return bool(Authenticator.objects.filter(user_id=user.pk, type__in=factors).exists())


def new_secret() -> str:
    """Return a secret for an app, in the letters in which apps accept it."""
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


def has_app(user: Any) -> bool:
    return bool(_rows(user, Authenticator.Type.TOTP).exists())


def switch_on(user: Any, secret: str, period: int) -> list[str]:
    """Store the secret of the user's app; return new recovery codes, or none if the account has some.
    period: of the code that proved that the app has the secret.
    """
    with transaction.atomic():
        lock(user)
        _rows(user, Authenticator.Type.TOTP).delete()
        data = {"secret": encrypt(secret), USED: period}
        Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data=data)
        codes = first_recovery_codes(user)
    logger.info("user %s: the app of the second factor added", user.pk)
    return codes


def new_recovery_codes(user: Any) -> list[str]:
    """Replace the recovery codes and return the new ones. The former ones become void."""
    with transaction.atomic():
        lock(user)
        _rows(user, Authenticator.Type.RECOVERY_CODES).delete()
        codes = first_recovery_codes(user)
    logger.info("user %s: new recovery codes", user.pk)
    return codes


def first_recovery_codes(user: Any) -> list[str]:
    """Return new recovery codes, or none if the account has some. The caller holds lock()."""
    if _rows(user, Authenticator.Type.RECOVERY_CODES).exists():
        return []
    # allauth computes the codes from the seed, and marks used ones in the mask.
    data = {"seed": encrypt(secrets.token_hex(40)), "used_mask": 0}
    row = Authenticator.objects.create(user=user, type=Authenticator.Type.RECOVERY_CODES, data=data)
    codes: list[str] = row.wrap().generate_codes()
    return codes


def remove_app(user: Any) -> None:
    """Remove the app. A passkey keeps the recovery codes."""
    if delete_factors(user, _rows(user, Authenticator.Type.TOTP)):
        logger.info("user %s: the app of the second factor removed", user.pk)


def delete_factors(user: Any, rows: Any) -> bool:
    """Delete second factors, and the recovery codes with the last one. Return whether there were any."""
    with transaction.atomic():
        lock(user)
        deleted, _details = rows.delete()
        if deleted and not has_second_factor(user):
            Authenticator.objects.filter(user_id=user.pk).delete()
    return bool(deleted)


def _rows(user: Any, kind: str) -> Any:
    return Authenticator.objects.filter(user_id=user.pk, type=kind)


def lock(user: Any) -> None:
    """Lock the user's row, so that concurrent changes (a double click) each see the result of the one before."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)


def is_right(request: HttpRequest, user: Any, code: str) -> bool:
    """Return whether the code of the app, or the recovery code, is right, and use it. Raises ApiError as spend()."""
    return check(request, user, lambda: _use(user, code))


def check(request: HttpRequest, user: Any, is_accepted: Callable[[], bool]) -> bool:
    """Return whether the second factor is accepted, within the limits of its account. Raises ApiError as spend()."""
    charges = [
        charge(PER_ACCOUNT, "code", str(user.pk)),
        charge(PER_PASSWORD, "codes of a day", str(user.pk), user.password),
        charge(PER_ADDRESS, "address", address_of(request)),
    ]
    spend(charges)
    if is_right := is_accepted():
        LoginLimit.objects.give_back(charges)
        LoginLimit.objects.forget(charges[0])
    else:
        logger.warning("user %s: a wrong second factor after the right password", user.pk)
        warn_of_wrong_codes(user)
    return is_right


def period_of(secret: str, code: str, after: int = 0) -> int | None:
    """Return the period of a code that is right now and later than `after`, else None."""
    now = int(time.time()) // PERIOD_S
    periods = range(max(now - TOLERANCE, after + 1), now + TOLERANCE + 1)
    digits = "".join(filter(str.isalnum, code)).encode()  # apps show spaces in between
    right = [period for period in periods if hmac.compare_digest(_code(secret, period), digits)]
    return right[0] if right else None


def _use(user: Any, code: str) -> bool:
    with transaction.atomic():
        # Of concurrent requests with one code, only one uses it.
        kinds = (Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES)
        rows = Authenticator.objects.select_for_update().filter(user_id=user.pk, type__in=kinds)
        try:
            return any(_use_row(row, code) for row in rows.order_by("-type"))
        except UnreadableSecret:
            logger.warning("user %s: the second factor was encrypted with another SECRET_KEY", user.pk)
            return False


def _use_row(row: Authenticator, code: str) -> bool:
    if row.type == Authenticator.Type.RECOVERY_CODES:
        is_used: bool = row.wrap().validate_code(code)
    else:
        period = period_of(decrypt(row.data["secret"]), code, row.data.get(USED, 0))
        is_used = period is not None
        row.data[USED] = period
    if is_used:
        row.record_usage()
        Authenticator.objects.filter(pk=row.pk, type=Authenticator.Type.TOTP).update(data=row.data)
    return is_used


def _code(secret: str, period: int) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA1
    from cryptography.hazmat.primitives.twofactor.hotp import HOTP

    return HOTP(base64.b32decode(secret, casefold=True), DIGITS, SHA1()).generate(period)  # noqa: S303  as all apps


class Code(forms.Form):
    code = forms.CharField(max_length=MAX_CODE_CHARACTERS)


class PasswordAndCode(PasswordAgain, Code):
    pass


class SecondFactor(PasswordPage, FormView[PasswordAndCode]):
    """The page that turns the code of an app on and off, and makes recovery codes. Each needs password and code."""

    form_class = PasswordAndCode
    template_name = "accounts/second_factor.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        is_on = has_app(self.request.user)
        context = super().get_context_data(**kwargs) | {"is_on": is_on}
        return context if is_on else context | self._shown_secret()

    def form_valid(self, form: PasswordAndCode) -> HttpResponse:
        user, code, action = self.request.user, form.cleaned_data["code"], self.request.POST.get("action")
        if (action == "on") == has_app(user):
            # Another tab has done it already.
            return HttpResponseRedirect(reverse("second_factor"))
        if action == "on":
            return self._switch_on(form, code)
        if not is_right(self.request, user, code):
            return self._refuse(form)
        if action == "codes":
            return self.render_to_response(self.get_context_data(codes=new_recovery_codes(user)))
        remove_app(user)
        return HttpResponseRedirect(f"{reverse('second_factor')}?notice=off")

    def _switch_on(self, form: PasswordAndCode, code: str) -> HttpResponse:
        secret = self.request.session.get(SECRET, "")
        period = period_of(secret, code) if secret else None
        if period is None:
            return self._refuse(form)
        codes = switch_on(self.request.user, secret, period)
        del self.request.session[SECRET]
        if not codes:  # the account already has recovery codes, from its passkeys
            return HttpResponseRedirect(f"{reverse('second_factor')}?notice=on")
        return self.render_to_response(self.get_context_data(codes=codes))

    def _refuse(self, form: PasswordAndCode) -> HttpResponse:
        form.add_error("code", _("This code is not right, or it was used already."))
        return self.form_invalid(form)

    def _shown_secret(self) -> dict[str, str]:
        secret: str = self.request.session.setdefault(SECRET, new_secret())
        adapter = get_adapter()
        svg = adapter.build_totp_svg(adapter.build_totp_url(self.request.user, secret))
        return {
            "secret": secret,
            "picture": f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}",
        }
