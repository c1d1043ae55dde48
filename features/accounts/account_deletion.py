"""The deletion of an account, by its user on a page or by staff in the admin.
The account is closed at once, and the sweeper deletes its rows.

Decision 0115 defines what happens to knowledge bases: a base with another owner who has accepted it stays.
"""

from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.generic import FormView
from knox.models import AuthToken

from chat.models import AccountDeletion
from chat.runs.cancellation import stop_abandoned_runs
from features.accounts.logins import end_logins
from features.accounts.passwords import AccountPage, PasswordAgain
from web.accounts import DEMO


def is_last_admin(user: User) -> bool:
    """Return whether the user is a superuser who may log in, and no other one exists."""
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    if not settings.DEVELOPMENT:
        others = others.exclude(username=DEMO)
    return user.is_superuser and user.is_active and not others.exists()


def request_deletion(user: User) -> bool:
    """Close the account now and have the sweeper delete it. Idempotent.
    Return False, and change nothing, if it is the account of the last admin.
    """
    with transaction.atomic():
        # The lock keeps one admin if two delete themselves at the same time.
        ContentType.objects.select_for_update().get(app_label="auth", model="user")
        if is_last_admin(user):
            return False
        User.objects.filter(pk=user.pk).update(is_active=False)
        AccountDeletion.objects.get_or_create(user=user)
        AuthToken.objects.filter(user=user).delete()
        end_logins(user)
        transaction.on_commit(stop_abandoned_runs)
    return True


class DeleteAccount(AccountPage, FormView[PasswordAgain]):
    form_class = PasswordAgain
    template_name = "accounts/delete_account.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"is_last_admin": is_last_admin(self.user)}

    def form_valid(self, form: PasswordAgain) -> HttpResponse:
        if not request_deletion(self.user):
            return self.form_invalid(form)
        logout(self.request)
        return HttpResponseRedirect(f"{reverse('login')}?notice=deleted")
