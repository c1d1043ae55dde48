"""The form of a new account: a name, an e-mail address and a password; and the record of a registration."""

import logging
from typing import Any

from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth import login
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from chat.models import Invitation
from features.accounts.known_device import remember_device
from features.accounts.staff_groups import follow_groups
from web.demo_account import DEMO

logger = logging.getLogger(__name__)


class NewAccount(UserCreationForm[User]):
    """A form that reports a taken name, in any case of its letters, and reveals nothing else about other accounts."""

    class Meta(UserCreationForm.Meta):
        fields = ("username", "email")

    def clean_username(self) -> str:
        name: str = super().clean_username() or ""
        if name.casefold() == DEMO:
            # The demo account has a public password, and is closed outside development.
            raise ValidationError(_("A user with that username already exists."))
        return name

    def make_user(self, **fields: Any) -> User:
        """Hash the password and store the account. Raises IntegrityError if the name was taken meanwhile."""
        for name, value in fields.items():
            setattr(self.instance, name, value)
        user: User = super().save()
        return user


def enter(request: HttpRequest, user: User, to: str = "page") -> HttpResponse:
    """Log in who has just made an account, and redirect. to: an address, or the name of a page."""
    login(request, user)
    response = redirect(to)
    remember_device(response, user.get_username())
    return response


def complete_registration(user: User, invitation: Invitation | None, how: str = "") -> None:
    """Add a new account to the group of its invitation, which may make it staff, and log how it was created.

    how: the words before those about the invitation in the log, with a space at their end.
    """
    by = how + (f"with invitation {invitation.pk}" if invitation else "without an invitation")
    if invitation is not None and invitation.group is not None:
        user.groups.add(invitation.group)
        follow_groups(user)
    LogEntry.objects.create(
        user=user,
        content_type=ContentType.objects.get_for_model(User),
        object_id=str(user.pk),
        object_repr=user.get_username(),
        action_flag=ADDITION,
        change_message=f"Registered {by}.",
    )
    logger.info("user %s registered %s", user.pk, by)
