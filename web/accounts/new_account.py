"""The form of a new account: a name, an e-mail address and a password."""

from typing import Any

from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from web.accounts.demo_account import DEMO


class NewAccount(UserCreationForm[User]):
    """Says that a name is taken, in any case of its letters, and nothing else about other accounts."""

    class Meta(UserCreationForm.Meta):
        fields = ("username", "email")

    def clean_username(self) -> str:
        name: str = super().clean_username() or ""
        if name.casefold() == DEMO:
            # Closed outside DEBUG, and with a public password there.
            raise ValidationError(_("A user with that username already exists."))
        return name

    def make_user(self, **fields: Any) -> User:
        """Store the account. Hashes the password. Raises IntegrityError if the name was taken meanwhile."""
        for name, value in fields.items():
            setattr(self.instance, name, value)
        user: User = super().save()
        return user
