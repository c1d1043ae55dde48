"""Finding a user's sessions by the words of their titles and messages.

Every word that is looked for must be there, or a word that begins with it, in one message or in the title; by indexes
that migration 0015 makes. Scripts that put no spaces between words are looked for as they stand, message by message.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from django.db.models.expressions import RawSQL

from chat.models.sql.statements import Statement
from chat.transcript.passages import readable_text

# Further words are ignored. A text without white space has as many as it has parts: "a-b" is two.
MAX_WORDS: Final = 16
_PART: Final = re.compile(r"[^\W_]+")
# Thai to Khmer, kana, and Chinese characters.
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
_FOUND: Final = """
    SELECT message.session_id FROM chat_chatmessage AS message
    JOIN chat_session AS own ON own.id = message.session_id AND own.owner_id = %s
    WHERE message.words @@ to_tsquery('simple', %s)
    UNION
    SELECT id FROM chat_session
    WHERE owner_id = %s AND to_tsvector('simple', title) @@ to_tsquery('simple', %s)
"""
_FOUND_AS_IT_STANDS: Final = """
    SELECT message.session_id FROM chat_chatmessage AS message
    JOIN chat_session AS own ON own.id = message.session_id AND own.owner_id = %s
    WHERE message.role IN ('user', 'assistant') AND strpos(lower(message.text), lower(%s)) > 0
    UNION
    SELECT id FROM chat_session WHERE owner_id = %s AND strpos(lower(title), lower(%s)) > 0
"""


class Hit(NamedTuple):
    """excerpt: the text around the match; None in scripts without spaces."""

    message: UUID
    excerpt: str | None


class _Match(NamedTuple):
    """rounds: turn_number of each tool call that has a text_before; None without any, and then text is, too."""

    session_id: UUID
    message: UUID
    excerpt: str
    text: str | None
    rounds: list[int] | None
    texts_before: list[str] | None


class _HitAsItStands(NamedTuple):
    session_id: UUID
    message: UUID


class _Excerpt(NamedTuple):
    session_id: UUID
    excerpt: str


_HEADLINE: Final = """
    ts_headline('simple', left(text, 100000), query, 'MaxWords=20, MinWords=12, StartSel="", StopSel=""')"""
# For each session the first message that matches; excerpts are computed for those messages alone.
# Parameters: query, sessions. Plan: messages by session, filtered by the column `words`.
_EXCERPTS: Final = Statement(
    f"""
    SELECT session_id, id, {_HEADLINE}, CASE WHEN rounds IS NOT NULL THEN text END, rounds, texts_before
    FROM to_tsquery('simple', %(query)s) AS query, unnest(%(sessions)s::uuid[]) AS wanted
    CROSS JOIN LATERAL (
        SELECT id, session_id, text FROM chat_chatmessage
        WHERE session_id = wanted AND words @@ query ORDER BY sent_at, id LIMIT 1
    ) AS matching
    CROSS JOIN LATERAL (
        SELECT array_agg(turn_number ORDER BY turn_number, tab_index) AS rounds,
            array_agg(text_before ORDER BY turn_number, tab_index) AS texts_before
        FROM chat_toolcall WHERE message_id = matching.id AND text_before <> ''
    ) AS before
    """,  # noqa: S608  constants alone
    _Match,
)
# For each session the first message that contains the text. Parameters: sessions, text. Plan: messages by session.
_HITS_AS_THEY_STAND: Final = Statement(
    """
    SELECT session_id, id FROM unnest(%(sessions)s::uuid[]) AS wanted
    CROSS JOIN LATERAL (
        SELECT id, session_id FROM chat_chatmessage
        WHERE session_id = wanted AND role IN ('user', 'assistant') AND strpos(lower(text), lower(%(text)s)) > 0
        ORDER BY sent_at, id LIMIT 1
    ) AS matching
    """,
    _HitAsItStands,
)
# The excerpts of given texts. Parameters: query, sessions, texts.
_EXCERPTS_OF_TEXTS: Final = Statement(
    f"""
    SELECT session_id, {_HEADLINE}
    FROM to_tsquery('simple', %(query)s) AS query,
    unnest(%(sessions)s::uuid[], %(texts)s::text[]) AS given(session_id, text)
    """,  # noqa: S608  constants alone
    _Excerpt,
)


def matching_sessions(owner_id: Any, text: str) -> RawSQL:
    """The ids of the owner's sessions that match, as a subquery."""
    query = _query(text)
    if query is None:
        return RawSQL(_FOUND_AS_IT_STANDS, [owner_id, text.strip(), owner_id, text.strip()])  # noqa: S611
    return RawSQL(_FOUND, [owner_id, query, owner_id, query])  # noqa: S611  no values but the parameters


def matching_messages(text: str, column: Literal["id", "session_id"]) -> RawSQL:
    """The column of all matching messages of all users, as a subquery."""
    query = _query(text)
    by_words = "words @@ to_tsquery('simple', %s)"
    as_it_stands = "role IN ('user', 'assistant') AND strpos(lower(text), lower(%s)) > 0"
    condition, parameter = (as_it_stands, text.strip()) if query is None else (by_words, query)
    return RawSQL(f"SELECT {column} FROM chat_chatmessage WHERE {condition}", [parameter])  # noqa: S608, S611  no values


def hits(sessions: Iterable[UUID], text: str) -> dict[UUID, Hit]:
    """Session -> the first message that matches; sessions of which only the title matches are left out."""
    query = _query(text)
    wanted = list(sessions)
    if not wanted:
        return {}
    if query is None:
        as_they_stand = _HITS_AS_THEY_STAND.all(sessions=wanted, text=text.strip())
        return {row.session_id: Hit(row.message, None) for row in as_they_stand}
    matches = _EXCERPTS.all(query=query, sessions=wanted)
    found = {match.session_id: match.excerpt for match in matches}
    texts = {
        one.session_id: readable_text(one.text or "", zip(one.rounds, one.texts_before or (), strict=True))
        for one in matches
        if one.rounds
    }
    if texts:
        rows = _EXCERPTS_OF_TEXTS.all(query=query, sessions=list(texts), texts=list(texts.values()))
        found |= {row.session_id: row.excerpt for row in rows}
    return {match.session_id: Hit(match.message, found[match.session_id]) for match in matches}


def _words(text: str) -> Iterator[str]:
    left = MAX_WORDS
    for word in text.split():
        parts = list(_PART.finditer(word))[:left]
        left -= len(parts)
        if parts:
            yield word[: parts[-1].end()]


def _query(text: str) -> str | None:
    """The to_tsquery expression that requires all words as prefixes; None if the text must be searched as a substring."""
    words = list(_words(text))
    if not words or _UNSPACED.search(text):
        return None
    quoted = (word.replace("\\", "\\\\").replace("'", "''") for word in words)
    return " & ".join(f"'{word}':*" for word in quoted)
