"""Passwords: asked for again before actions that could cost the account, changed by the user, and set by links, which a page
sends. For accounts without a password, the provider confirms who is there.

A link sets one password, within PASSWORD_RESET_TIMEOUT. It contains Django's token, which is signed and stored nowhere,
and becomes void when the password, the e-mail address or the time of the last login changes.
"""

import time
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm, PasswordResetForm, SetPasswordForm
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import (
    INTERNAL_RESET_SESSION_TOKEN,
    PasswordChangeView,
    PasswordResetConfirmView,
    PasswordResetView,
)
from django.core import signing
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.timesince import timeuntil
from django.utils.translation import gettext as _
from django.views.generic.edit import FormMixin
from knox.models import AuthToken

from chat.events import access
from features.accounts.login_attempt import address_of, hashing, link_attempt, login_attempt, remember_device
from features.accounts.mail import charge_mail, send_later
from web.accounts import accounts_at, may_log_in
from web.site_origin import site_url

# In the session: the time of the user's last login with the provider (features/accounts/).
CONFIRMED_AT: Final = "oidc_confirmed_at"
FRESH_FOR_S: Final = 300


def has_password(user: Any) -> bool:
    """Return whether the user can log in with a password."""
    return bool(settings.PASSWORD_LOGIN and user.has_usable_password())


def require_passwords() -> None:
    """Raise Http404 where password logins are off."""
    if not settings.PASSWORD_LOGIN:
        raise Http404


def is_fresh(request: HttpRequest) -> bool:
    """Return whether the provider confirmed the user within FRESH_FOR_S."""
    return bool(time.time() - request.session.get(CONFIRMED_AT, 0) < FRESH_FOR_S)


def is_confirmed(request: HttpRequest, password: str) -> bool:
    """Return whether the password, or for accounts without one the provider, confirms the user.
    Guesses are limited as at the login. Raises ApiError as login_attempt() does.
    """
    user = request.user
    if not has_password(user):
        return is_fresh(request)
    with login_attempt(request, user.get_username()) as attempt:
        attempt.has_right_password = user.check_password(password)
    return attempt.has_right_password


def unconfirmed_message(user: Any) -> str:
    if has_password(user):
        return str(PasswordChangeForm.error_messages["password_incorrect"])
    return _("Log in with %(name)s once more first.") % {"name": settings.OIDC_NAME}


class AccountPage(LoginRequiredMixin, FormMixin[Any]):
    """A page whose form changes the account of its user. is_fresh: for users without a password."""

    request: HttpRequest

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"request": self.request}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"is_fresh": is_fresh(self.request)}

    @property
    def user(self) -> User:
        """Return the row of the user, read anew."""
        return User.objects.get(username=self.request.user.get_username())


class PasswordPage(AccountPage):
    """A page about the password and related settings. Users without a password are redirected to the profile."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not has_password(request.user):
            return HttpResponseRedirect(reverse("profile"))
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return answer


class WithRequest:
    """A form that is given the request, by which its guesses are limited."""

    def __init__(self, *args: Any, request: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request: Any = request


class PasswordAgain(WithRequest, forms.Form):
    """A form that asks for the password again.
    For accounts without a password, the provider confirms the identity.
    """

    current_password = forms.CharField(required=False, strip=False, max_length=4096)

    def clean_current_password(self) -> str:
        password: str = self.cleaned_data["current_password"]
        if not is_confirmed(self.request, password):
            raise forms.ValidationError(unconfirmed_message(self.request.user))
        return password


def make_password_link(user: User) -> str:
    """Return the path of a link that sets the password of `user`."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("password_link", args=[uid, default_token_generator.make_token(user)])


def read_link(token: str, salt: str) -> Any:
    """Return what signing.dumps() signed for a link, or None if the token is forged or older than a link may be."""
    try:
        return signing.loads(token, salt=salt, max_age=settings.PASSWORD_RESET_TIMEOUT)
    except (signing.BadSignature, TypeError, ValueError):
        return None


def password_link_lifetime() -> str:
    """Return how long a new link is valid, in words of the active language."""
    now = timezone.now()
    return timeuntil(now + timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT), now)


class NewPassword(SetPasswordForm):  # type: ignore[type-arg]  # not generic at run time
    deletes_tokens = forms.BooleanField(required=False, initial=True)


class SetPassword(PasswordResetConfirmView):
    """Django's view, which keeps the token in the session and out of the address while the form is displayed."""

    form_class = NewPassword
    template_name = "accounts/password_link.html"
    success_url = "/login/?notice=password"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with link_attempt(request) as accept:
            response = super().dispatch(request, *args, **kwargs)
            # A redirect means that the link was right; its token is in the session now.
            if response.status_code == 302 or self.validlink:
                accept()
        return response

    def get_user(self, uidb64: str) -> User | None:
        user: User | None = super().get_user(uidb64)
        return user if user is not None and may_log_in(user) else None

    def form_valid(self, form: Any) -> HttpResponse:
        with hashing.entered(address_of(self.request)), hashing.slot(), transaction.atomic():
            # Of concurrent requests with one link, the first one sets the password.
            locked = User.objects.select_for_update().get(pk=form.user.pk)
            if not self.token_generator.check_token(
                locked, self.request.session[INTERNAL_RESET_SESSION_TOKEN]
            ):
                self.validlink = False
                return self.render_to_response(self.get_context_data())
            form.user = locked
            response = super().form_valid(form)
            if form.cleaned_data["deletes_tokens"]:
                AuthToken.objects.filter(user=locked).delete()
            access.announce_change(locked.pk)
        remember_device(response, locked.get_username())
        return response


class LinkRequest(PasswordResetForm):
    """A form whose accounts are looked up by the thread that sends the e-mail: the response and its duration tell nobody
    whether an account has the address.
    """

    def get_users(self, email: str) -> Iterable[User]:
        return [user for user in accounts_at(email) if user.has_usable_password() and may_log_in(user)]


class RequestPasswordLink(PasswordResetView):
    form_class = LinkRequest
    template_name = "accounts/password_reset.html"
    success_url = "/password/reset/sent/"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"sends_email": bool(settings.EMAIL_HOST)}

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        charge_mail(self.request, form.cleaned_data["email"])
        if settings.EMAIL_HOST:
            origin = urlsplit(site_url(""))
            send = partial(
                form.save,
                domain_override=origin.netloc,
                use_https=origin.scheme == "https",
                subject_template_name="accounts/password_mail_subject.txt",
                email_template_name="accounts/password_mail.txt",
                extra_email_context={"valid_for": password_link_lifetime()},
            )
            send_later(send)
        return HttpResponseRedirect(self.success_url)


class LimitedPasswordChange(WithRequest, PasswordChangeForm):
    """A form in which guesses of the current password are limited as at the login."""

    deletes_tokens = forms.BooleanField(required=False, initial=True)

    def clean_old_password(self) -> str:
        with login_attempt(self.request, self.user.get_username()) as attempt:
            old: str = super().clean_old_password()
            attempt.has_right_password = True
        return old


class ChangePassword(PasswordPage, PasswordChangeView):
    """The page of a change, which ends the user's other logins. api.py has its route of the API."""

    form_class = LimitedPasswordChange
    template_name = "accounts/password.html"
    success_url = "/"

    def form_valid(self, form: Any) -> HttpResponse:
        store_password(form, kept_login=self.request)
        return HttpResponseRedirect(self.get_success_url())


def store_password(form: LimitedPasswordChange, *, kept_login: HttpRequest | None) -> None:
    """Store the password of a valid form, and delete the user's API tokens if it says so.

    kept_login: a request of the browser that stays logged in.
    """
    with hashing.slot(), transaction.atomic():
        form.set_password_and_save(form.user, "new_password1")
        if kept_login is not None:
            update_session_auth_hash(kept_login, form.user)
        if form.cleaned_data["deletes_tokens"]:
            AuthToken.objects.filter(user=form.user).delete()
        access.announce_change(form.user.pk)
