"""The accounts that an e-mail address or a user name finds, whatever the case of its ASCII letters.

No other letters are folded: full case folding, compatibility forms and the upper case of a database take different
addresses for one another (the dotless i for i, the long s for s, ß for ss), and whoever has one of them would enter the other's account.
"""

from typing import Literal

from django.contrib.auth.models import User
from django.db.models import QuerySet, Value
from django.db.models.functions import Collate, Lower
from django.db.models.lookups import Exact


def accounts_at(address: str) -> QuerySet[User]:
    """Return the accounts with this e-mail address; none for an empty one."""
    return _accounts("email", address)


def accounts_named(name: str) -> QuerySet[User]:
    return _accounts("username", name)


def _accounts(field: Literal["email", "username"], text: str) -> QuerySet[User]:
    return User.objects.filter(Exact(_folded(field), _folded(Value(text)))) if text else User.objects.none()


def _folded(text: str | Value) -> Lower:
    # In the collation C, the lower case is that of ASCII, whatever the locale of the database.
    return Lower(Collate(text, "C"))
