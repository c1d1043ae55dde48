"""The audience of an agent: groups by their ids, and single people by their user names."""

import logging
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from django.contrib.auth.models import Group, User
from django.db.models import QuerySet

from chat.models import Agent
from chat.protocol.errors import ApiError
from web.accounts import limit_unknown_names

logger = logging.getLogger(__name__)

# Agents of one owner that may be shared with one person by name; they appear in that person's list without consent.
MAX_AGENTS_PER_PERSON: Final = 20


class Audience(NamedTuple):
    """The groups (ids) and people with whom an agent is shared. None: they stay as they are."""

    groups: Sequence[int] | None
    people: Sequence[User] | None


def pop_audience(owner: User, body: dict[str, Any], stored: Agent | None) -> Audience:
    """Remove the audience from a body and return it. stored: the agent, whose current audience may stay.

    Not inside a transaction: unknown names count although the request is refused. Raises ApiError.
    """
    groups, names = body.pop("shared_with", None), body.pop("shared_with_users", None)
    if groups is not None:
        _check_groups(owner, set(groups), stored)
    return Audience(groups, None if names is None else _find_people(owner, names, stored))


def share(owner: User, agent: Agent, audience: Audience) -> None:
    """Set the audience. Raises ApiError if a person has enough agents of this owner.
    The caller is in a transaction that has locked the owner, who may share other agents at the same time.
    """
    if audience.groups is not None:
        before = set(agent.shared_with.values_list("pk", flat=True))
        if before != set(audience.groups):
            agent.shared_with.set(Group.objects.filter(pk__in=audience.groups))
            logger.info(
                "user %s: agent %s is shared with groups %s", owner.pk, agent.pk, sorted(audience.groups)
            )
    if audience.people is not None:
        _share_with_people(owner, agent, audience.people)


def _share_with_people(owner: User, agent: Agent, people: Sequence[User]) -> None:
    before = set(agent.shared_with_users.values_list("pk", flat=True))
    wanted = {person.pk for person in people}
    if before == wanted:
        return
    for place, person in enumerate(people):
        others = Agent.objects.filter(owner=owner, shared_with_users=person).exclude(pk=agent.pk)
        if person.pk not in before and others.count() >= MAX_AGENTS_PER_PERSON:
            field = f"shared_with_users.{place}"
            raise ApiError("too_many_shared_agents", field=field, max=MAX_AGENTS_PER_PERSON)
    agent.shared_with_users.set(people)
    logger.info("user %s: agent %s is shared with users %s", owner.pk, agent.pk, sorted(wanted))


def _check_groups(owner: User, groups: set[int], stored: Agent | None) -> None:
    if groups and stored:
        groups -= set(stored.shared_with.values_list("pk", flat=True))
    if groups and groups_to_share_with(owner).filter(pk__in=groups).distinct().count() != len(groups):
        raise ApiError("invalid_value", "No group of yours.", field="shared_with")


def groups_to_share_with(user: User) -> QuerySet[Group, Any]:
    """Return all groups for staff who may change agents, and the own groups for other users."""
    if user.is_staff and user.has_perm("chat.change_agent"):
        return Group.objects.all()
    return Group.objects.filter(user=user)


def _find_people(owner: User, names: Sequence[str], stored: Agent | None) -> list[User]:
    """Return the users with these names. Raises ApiError for the first unknown name.
    People of `stored` stay although their accounts were closed.
    """
    current = {user.username: user for user in stored.shared_with_users.all()} if stored else {}
    return [current.get(name) or _find_person(owner, name, place) for place, name in enumerate(names)]


def _find_person(owner: User, name: str, place: int) -> User:
    field = f"shared_with_users.{place}"
    if name == owner.username:
        raise ApiError("invalid_value", "It is yours already.", field=field)
    with limit_unknown_names(owner):
        person = User.objects.filter(username=name, is_active=True).first()
        if person is None:
            raise ApiError("user_not_found", field=field)
    return person
