"""The queryset by which lists, searches and the sweeper select sessions, and by which sessions are named."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import UUID

from django.db import models
from django.db.models.functions import Now

from chat.models.sql import session_search, sessions

if TYPE_CHECKING:
    from django.contrib.auth.models import User

M = TypeVar("M", bound=models.Model)


class TrashQuerySet(models.QuerySet[M]):
    """Rows that their owners delete into a trash: they have the columns deleted_at and purge_at."""

    # Mutators

    def move_to_trash(self, pk: Any, keep: timedelta) -> bool:
        """Delete a row for its owner, who can restore it for this long. False: it is gone, or in the trash already."""
        return bool(self.filter(pk=pk, deleted_at=None).update(deleted_at=Now(), purge_at=Now() + keep))

    def move_all_to_trash(self, keep: timedelta) -> int:
        """Move these rows to the trash, as move_to_trash() does; return how many were not there already.

        Each has its own time: pages of the trash lead on by it.
        """
        own_time = models.Func(
            function="clock_timestamp", template="%(function)s()", output_field=models.DateTimeField()
        )
        return self.filter(deleted_at=None).update(deleted_at=own_time, purge_at=Now() + keep)

    def restore(self) -> int:
        """Take these out of the trash, as they were; return how many were there."""
        return self.in_trash().update(deleted_at=None, purge_at=None)

    def empty_trash(self) -> None:
        """End the time in the trash of these: nobody can restore them, and the sweeper deletes them."""
        self.in_trash().update(purge_at=Now())

    # Queries

    def in_trash(self) -> Self:
        """Select rows that their owners have deleted and can restore."""
        return self.filter(deleted_at__isnull=False, purge_at__gt=Now())

    def to_purge(self) -> Self:
        """Select rows whose time in the trash is over, the first to end first."""
        return self.filter(purge_at__lte=Now()).order_by("purge_at")


# Sessions that have no title of the owner or a model yet and are to get one; in SQL: sql.sessions.IS_UNNAMED.
UNNAMED = models.Q(temporary_until=None) & (models.Q(title="") | models.Q(has_provisional_title=True))


class ListedSessionQuerySet(TrashQuerySet[M]):
    # Mutators

    def set_title(self, pk: UUID | str, title: str) -> bool:
        """Name an unnamed session, without moving it in the list; False: it has a title, or was deleted."""
        return bool(self.filter(UNNAMED, pk=pk).update(title=title, has_provisional_title=False))

    def set_provisional_title(self, pk: UUID | str, title: str) -> bool:
        """Give the session a title that set_title() may replace. False: it has some title, or was deleted."""
        return bool(self.filter(UNNAMED, pk=pk, title="").update(title=title, has_provisional_title=True))

    def restore(self) -> int:
        """Take these out of the trash, as they were. A deleted part of a session becomes a session of its own."""
        return self.in_trash().update(deleted_at=None, purge_at=None, part_of=None)

    # Queries

    def visible_to(self, user: User) -> Self:
        """Select the user's own sessions; sessions of other users are not visible."""
        return self.filter(owner=user)

    def listed(self) -> Self:
        """Exclude temporary sessions, which lists, searches and exports leave out."""
        return self.filter(temporary_until=None)

    def search(self, owner: User, text: str) -> Self:
        """Select the owner's listed sessions whose title or messages contain words that start with those of `text`.
        A blank text selects all of them.
        """
        own = self.visible_to(owner).listed()
        return own.filter(pk__in=session_search.matching_sessions(owner.pk, text)) if text.strip() else own

    def tagged(self, owner: User, tag: str) -> Self:
        """Select the owner's sessions that have this tag, however it is capitalised."""
        return self.filter(pk__in=sessions.sessions_with(owner.pk, tag))

    def in_state(self, *, is_pinned: bool | None, is_archived: bool | None) -> Self:
        """Filter by pinned and archived state; None means no filter."""
        wanted = {"is_pinned": is_pinned, "is_archived": is_archived}
        return self.filter(**{name: value for name, value in wanted.items() if value is not None})

    def unused_within(self, time: timedelta) -> Self:
        """Select temporary sessions that are to be deleted within this time unless they are in use."""
        return self.filter(temporary_until__lt=Now() + time)
