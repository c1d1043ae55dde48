"""Staff status through the groups of STAFF_GROUPS: their members are staff.
is_staff follows the membership when it changes, and at logins.
"""

from django.conf import settings
from django.contrib.auth.models import User


def is_in_staff_group(user: User) -> bool:
    return bool(settings.STAFF_GROUPS) and user.groups.filter(name__in=settings.STAFF_GROUPS).exists()


def follow_groups(user: User, *, was_member: bool = False) -> None:
    """Make a member staff. A former member is not staff any more, unless it is a superuser."""
    is_member = is_in_staff_group(user)
    if is_member != user.is_staff and (is_member or (was_member and not user.is_superuser)):
        user.is_staff = is_member
        User.objects.filter(pk=user.pk).update(is_staff=is_member)
