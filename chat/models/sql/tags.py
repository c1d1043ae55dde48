"""Statements about the tags of a user's sessions.

A tag is a word that at least one session has; words that differ only in capitals are the same tag.
"""

from typing import Any, Final, NamedTuple

from django.db.models.expressions import RawSQL

from chat.models.sql.statements import Statement

HAS_TAG: Final = "EXISTS (SELECT FROM unnest(tags) AS tag WHERE lower(tag) = lower({tag}))"


class UsedTag(NamedTuple):
    """sessions: how many sessions have the tag, those in the trash left out."""

    name: str
    sessions: int


# Parameters: user, but (a session that is left out, or NULL). In the order of the alphabet. Plan: session_by_owner.
LIST: Final = Statement(
    """
    SELECT min(tag), (count(DISTINCT id) FILTER (WHERE deleted_at IS NULL))::int
    FROM chat_session, unnest(tags) AS tag
    WHERE owner_id = %(user)s AND id IS DISTINCT FROM %(but)s::uuid
    GROUP BY lower(tag) ORDER BY lower(tag)
    """,
    UsedTag,
)


def sessions_with(owner_id: Any, tag: str) -> RawSQL:
    """Return a subquery of the ids of the owner's sessions that have the tag."""
    condition = HAS_TAG.format(tag="%s")
    return RawSQL(f"SELECT id FROM chat_session WHERE owner_id = %s AND {condition}", [owner_id, tag])  # noqa: S608, S611  no values
