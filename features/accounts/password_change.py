"""The change of a password by its user: the form, and the page with it. api.py has its route of the API.

A change ends the user's other logins.
"""

from typing import Any

from django import forms
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import PasswordChangeView
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from knox.models import AuthToken

from chat.events import access
from features.accounts.login_attempt import login_attempt
from features.accounts.password_hashing import hashing
from features.accounts.reauthentication import WithPasswordMixin


class LimitedPasswordChange(PasswordChangeForm):
    """A form in which guesses of the current password are limited as at the login."""

    deletes_tokens = forms.BooleanField(required=False, initial=True)

    def __init__(self, user: Any, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self.request = request

    def clean_old_password(self) -> str:
        with login_attempt(self.request, self.user.get_username()) as attempt:
            old: str = super().clean_old_password()
            attempt.has_right_password = True
        return old


class ChangePassword(WithPasswordMixin, PasswordChangeView):
    form_class = LimitedPasswordChange
    template_name = "accounts/password.html"
    success_url = "/"

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"request": self.request}

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
