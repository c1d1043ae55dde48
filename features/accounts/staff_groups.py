"""Rights through groups: members of STAFF_GROUPS are staff, and groups that the provider of OpenID Connect claims at a login
give the rights of OIDC_STAFF_GROUPS and OIDC_ADMIN_GROUPS.
"""

import logging

from django.conf import settings
from django.contrib.auth.models import Group, User

from features.accounts.account_deletion import is_last_admin
from features.accounts.oidc_identity import Identity

logger = logging.getLogger(__name__)


def is_in_staff_group(user: User) -> bool:
    return bool(settings.STAFF_GROUPS) and user.groups.filter(name__in=settings.STAFF_GROUPS).exists()


def follow_groups(user: User, *, was_member: bool = False) -> None:
    """Make a member staff. A former member is not staff any more, unless it is a superuser."""
    is_member = is_in_staff_group(user)
    if is_member != user.is_staff and (is_member or (was_member and not user.is_superuser)):
        user.is_staff = is_member
        User.objects.filter(pk=user.pk).update(is_staff=is_member)


def follow_claim(user: User, identity: Identity) -> None:
    """Give and take the user's rights by the claimed groups. A missing claim counts as no groups; one of another form
    changes nothing. The last admin stays an admin. The caller holds the lock of admit().
    """
    groups = identity.groups
    if identity.unread_groups:
        logger.warning(
            "user %s: the claim %r of the provider has a form that is not known (%s): no right is changed",
            user.pk,
            settings.OIDC_GROUPS_CLAIM,
            identity.unread_groups,
        )
        return
    if groups is None and (settings.OIDC_STAFF_GROUPS or settings.OIDC_ADMIN_GROUPS):
        logger.warning("user %s: the provider sends no claim %r", user.pk, settings.OIDC_GROUPS_CLAIM)
    claimed = groups or frozenset()
    _follow_memberships(user, claimed)
    is_superuser, is_staff = _rights(user, claimed)
    if (is_superuser, is_staff) != (user.is_superuser, user.is_staff):
        user.is_superuser, user.is_staff = is_superuser, is_staff
        User.objects.filter(pk=user.pk).update(is_superuser=is_superuser, is_staff=is_staff)
        logger.info("user %s: is_superuser %s, is_staff %s by the provider", user.pk, is_superuser, is_staff)


def _rights(user: User, claimed: frozenset[str]) -> tuple[bool, bool]:
    """Return (is_superuser, is_staff). A right that no setting controls stays as it is."""
    is_superuser = user.is_superuser
    if settings.OIDC_ADMIN_GROUPS:
        is_superuser = not claimed.isdisjoint(settings.OIDC_ADMIN_GROUPS)
        if not is_superuser and is_last_admin(user):
            logger.warning("user %s stays an admin, the last one, without a group of admins", user.pk)
            is_superuser = True
    if settings.OIDC_STAFF_GROUPS or is_superuser != user.is_superuser:
        is_member = not claimed.isdisjoint(settings.OIDC_STAFF_GROUPS)
        return is_superuser, is_superuser or is_member or is_in_staff_group(user)
    return is_superuser, user.is_staff


def _follow_memberships(user: User, claimed: frozenset[str]) -> None:
    """Add the user to the groups of OIDC_STAFF_GROUPS that exist here and are claimed, and remove it from the others.
    Those groups give their permissions and limits.
    """
    for group in Group.objects.filter(name__in=settings.OIDC_STAFF_GROUPS):
        if group.name in claimed:
            user.groups.add(group)
        else:
            user.groups.remove(group)
