"""Links that set a password without the current one, made by staff or sent by e-mail (password_mail.py).

A link sets one password, within PASSWORD_RESET_TIMEOUT. It contains Django's token, which is signed and stored nowhere,
and becomes void when the password, the e-mail address or the time of the last login changes.
"""

from datetime import timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.timesince import timeuntil
from knox.models import AuthToken

from chat.events import access
from features.accounts.known_device import remember_device
from features.accounts.login_attempt import address_of, link_attempt
from features.accounts.password_hashing import hashing
from web.demo_account import may_log_in


def make_password_link(user: User) -> str:
    """Return the path of a link that sets the password of `user`."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("password_link", args=[uid, default_token_generator.make_token(user)])


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
