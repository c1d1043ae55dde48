"""The search for a user's sessions by the words of their titles and messages, in any spelling (decision 0106).

One message or the title must have every word of the query, or a word that begins with it. The indexes are those of
chat/migrations/0001_version_0_2_0.py. A text in a script that puts no spaces between words is searched for as it stands,
in messages that have all its pairs of characters.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from django.db.models.expressions import RawSQL

from chat.models.sql.statements import Statement
from chat.transcript.readable_text import excerpt_of, readable_text
from knowledge.texts.searched_text import is_unspaced, normal_form, pairs_of

# Further words are ignored. A text without white space has as many as it has parts: "a-b" is two.
MAX_WORDS: Final = 16
_PART: Final = re.compile(r"[^\W_]+")
_PARAMETER: Final = re.compile(r"%\((\w+)\)s")
# Plan: message_by_words, message_by_normal_words; session_by_title_normal_words.
_HAS_WORDS: Final = "(message.words @@ to_tsquery('simple', %(query)s) OR message.normal_words @@ to_tsquery('simple', %(query)s))"
_HAS_TEXT: Final = (
    "message.role IN ('user', 'assistant') AND strpos(knowledge_normal_form(message.text), %(text)s) > 0"
)
# Plan: message_by_normal_words, which has all pairs of characters.
_HAS_PAIRS: Final = f"message.normal_words @@ to_tsquery('simple', %(query)s) AND {_HAS_TEXT}"
_TITLE_HAS_WORDS: Final = (
    "knowledge_normal_words('simple', knowledge_normal_form(title)) @@ to_tsquery('simple', %(query)s)"
)
_TITLE_HAS_TEXT: Final = "strpos(knowledge_normal_form(title), %(text)s) > 0"
# The search has two forms, since no index of words knows the owner (decision 0106). Where many messages have the words,
# the sessions of the owner are asked newest first; OFFSET keeps Postgres from reading all messages that have them instead.
_FOUND_BY_SESSION: Final = """
    SELECT own.id FROM chat_session AS own WHERE own.owner_id = %(owner)s AND (
        EXISTS (SELECT FROM chat_chatmessage AS message WHERE message.session_id = own.id AND ({in_message}) OFFSET 0)
        OR {in_title}
    )
"""
# Where few have them, the index is.
_FOUND_BY_INDEX: Final = """
    SELECT session_id FROM chat_chatmessage AS message WHERE {in_message}
    UNION SELECT id FROM chat_session WHERE owner_id = %(owner)s AND {in_title}
"""
# Above this share of messages that have the words, sessions are asked.
_COMMON: Final = 0.005


class Hit(NamedTuple):
    """A message that matches. excerpt: the text around the match; None in scripts without spaces."""

    message: UUID
    excerpt: str | None


class _Match(NamedTuple):
    """rounds: turn_number of each tool call that has a text_before; None without any.

    excerpt: None where the words are spelled in another way.  text: the text that the excerpt must be made of again, or
    None.
    """

    session_id: UUID
    message: UUID
    excerpt: str | None
    text: str | None
    rounds: list[int] | None
    texts_before: list[str] | None


class _HitAsItStands(NamedTuple):
    session_id: UUID
    message: UUID


class _Excerpt(NamedTuple):
    message: UUID
    excerpt: str


class _Share(NamedTuple):
    """The share of the messages that match; None without messages."""

    share: float | None


def _share_of(condition: str) -> Statement[_Share]:
    """Build the statement that tries the condition on a sample of some 600 messages, with its parameters.

    Postgres estimates beginnings of words by its most common words, and several words as if they were independent:
    for "w" and "to in is" it is wrong by a factor of up to a hundred.
    """
    sql = f"""
    SELECT avg(coalesce({condition}, false)::int)::float FROM chat_chatmessage AS message TABLESAMPLE SYSTEM ((
        SELECT 100 * 600 / greatest(600, reltuples, pg_relation_size(oid) / 8192) FROM pg_class
        WHERE oid = 'chat_chatmessage'::regclass
    ))
    """  # noqa: S608  constants alone
    return Statement(sql, _Share)


_HEADLINE: Final = """
    ts_headline('simple', left(text, 100000), query, 'MaxWords=20, MinWords=12, StartSel="", StopSel=""')"""
# For each session the first messages that match; excerpts are computed for those messages alone.
# Parameters: query, sessions, most. Plan: messages by session, filtered by the columns of words.
_EXCERPTS: Final = Statement(
    f"""
    SELECT session_id, id, CASE WHEN is_as_written THEN {_HEADLINE} END,
        CASE WHEN rounds IS NOT NULL OR NOT is_as_written THEN text END, rounds, texts_before
    FROM to_tsquery('simple', %(query)s) AS query, unnest(%(sessions)s::uuid[]) AS wanted
    CROSS JOIN LATERAL (
        SELECT id, session_id, sent_at, text, coalesce(words @@ query, false) AS is_as_written FROM chat_chatmessage
        WHERE session_id = wanted AND (words @@ query OR normal_words @@ query) ORDER BY sent_at, id LIMIT %(most)s
    ) AS matching
    CROSS JOIN LATERAL (
        SELECT array_agg(turn_number ORDER BY turn_number, tab_index) AS rounds,
            array_agg(text_before ORDER BY turn_number, tab_index) AS texts_before
        FROM chat_toolcall WHERE message_id = matching.id AND text_before <> ''
    ) AS before ORDER BY session_id, sent_at, id
    """,  # noqa: S608  constants alone
    _Match,
)
# For each session the first messages that contain the text. Parameters: sessions, text, most. Plan: messages by session.
_HITS_AS_THEY_STAND: Final = Statement(
    f"""
    SELECT session_id, id FROM unnest(%(sessions)s::uuid[]) AS wanted
    CROSS JOIN LATERAL (
        SELECT id, session_id, sent_at FROM chat_chatmessage AS message
        WHERE session_id = wanted AND {_HAS_TEXT} ORDER BY sent_at, id LIMIT %(most)s
    ) AS matching ORDER BY session_id, sent_at, id
    """,  # noqa: S608  constants alone
    _HitAsItStands,
)
_HITS_BY_PAIRS: Final = Statement(_HITS_AS_THEY_STAND.sql.replace(_HAS_TEXT, _HAS_PAIRS), _HitAsItStands)
# The excerpts of texts. Parameters: query, messages, texts.
_EXCERPTS_OF_TEXTS: Final = Statement(
    f"""
    SELECT message, {_HEADLINE}
    FROM to_tsquery('simple', %(query)s) AS query,
    unnest(%(messages)s::uuid[], %(texts)s::text[]) AS given(message, text)
    """,  # noqa: S608  constants alone
    _Excerpt,
)


# Plan: some hundred pages of the table.
_SHARE_WITH_WORDS: Final = _share_of(_HAS_WORDS)
_SHARE_WITH_PAIRS: Final = _share_of(_HAS_PAIRS)


class _Search(NamedTuple):
    """A query: all of the words as prefixes, or the text, which has these pairs of characters or none."""

    text: str
    words: list[str]
    pairs: list[str]

    @property
    def query(self) -> str:
        """The argument of to_tsquery()."""
        return " & ".join([f"{_quote(word)}:*" for word in self.words] or map(_quote, self.pairs))

    @property
    def conditions(self) -> tuple[str, str]:
        """The conditions on a message and on a title, with the parameters query and text."""
        if self.words:
            return _HAS_WORDS, _TITLE_HAS_WORDS
        return _HAS_PAIRS if self.pairs else _HAS_TEXT, _TITLE_HAS_TEXT


def matching_sessions(owner_id: Any, text: str) -> RawSQL:
    """Return a subquery of the ids of the owner's sessions that match. Reads how common the words are."""
    search = _search(text)
    in_message, in_title = search.conditions
    found = _FOUND_BY_SESSION if _is_common(search) else _FOUND_BY_INDEX
    return _raw(found.format(in_message=in_message, in_title=in_title), search, owner_id)


def _is_common(search: _Search) -> bool:
    """Return whether many messages have the words, or no index knows them."""
    if not search.query:
        return True
    statement = _SHARE_WITH_WORDS if search.words else _SHARE_WITH_PAIRS
    sampled = statement.first(query=search.query, text=search.text)
    return sampled is not None and (sampled.share or 0) > _COMMON


def matching_messages(text: str, column: Literal["id", "session_id"]) -> RawSQL:
    """Return a subquery of the column of all matching messages of all users."""
    search = _search(text)
    condition = search.conditions[0]
    return _raw(f"SELECT {column} FROM chat_chatmessage AS message WHERE {condition}", search)  # noqa: S608  no values


def hits(sessions: Iterable[UUID], text: str) -> dict[UUID, Hit]:
    """Return the first message that matches, by session; sessions of which only the title matches are left out."""
    return dict(_hits(list(sessions), text, most=1))


def hits_in(session: UUID, text: str, most: int) -> list[Hit]:
    """Return at most so many messages of the session that match, on all branches, in the order they were sent."""
    return [hit for _, hit in _hits([session], text, most)]


def _hits(sessions: list[UUID], text: str, most: int) -> list[tuple[UUID, Hit]]:
    search = _search(text)
    if not sessions:
        return []
    parameters = {"sessions": sessions, "most": most, "query": search.query}
    if search.words:
        matches = _EXCERPTS.all(**parameters)
        excerpts = _excerpts(matches, search)
        return [(match.session_id, Hit(match.message, excerpts[match.message])) for match in matches]
    statement = _HITS_BY_PAIRS if search.pairs else _HITS_AS_THEY_STAND
    return [(row.session_id, Hit(row.message, None)) for row in statement.all(**parameters, text=search.text)]


def _excerpts(matches: list[_Match], search: _Search) -> dict[UUID, str]:
    excerpts = {match.message: match.excerpt or "" for match in matches}
    texts = {
        one.message: readable_text(one.text, zip(one.rounds or (), one.texts_before or (), strict=True))
        for one in matches
        if one.text is not None
    }
    respelled = {one.message for one in matches if one.excerpt is None}
    excerpts |= {message: excerpt_of(texts[message], search.words) for message in respelled}
    with_passages = {message: text for message, text in texts.items() if message not in respelled}
    if with_passages:
        rows = _EXCERPTS_OF_TEXTS.all(
            query=search.query, messages=list(with_passages), texts=list(with_passages.values())
        )
        excerpts |= {row.message: row.excerpt for row in rows}
    return excerpts


def _search(text: str) -> _Search:
    form = normal_form(text).strip()
    if is_unspaced(form):
        return _Search(form, [], [pair for pair in pairs_of(form) if _PART.search(pair)][:MAX_WORDS])
    return _Search(form, list(_words(form)), [])


def _words(text: str) -> Iterator[str]:
    """Yield each word once: repeated, it would push others out, and cost seconds where a long text repeats it, too."""
    left = MAX_WORDS
    for word in dict.fromkeys(text.split()):
        parts = list(_PART.finditer(word))[:left]
        left -= len(parts)
        if parts:
            yield word[: parts[-1].end()]


def _quote(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _raw(sql: str, search: _Search, owner_id: Any = None) -> RawSQL:
    """Build a RawSQL, which takes its parameters in their order."""
    values = {"owner": owner_id, "query": search.query, "text": search.text}
    names = _PARAMETER.findall(sql)
    return RawSQL(_PARAMETER.sub("%s", sql), [values[name] for name in names])  # noqa: S611  no values but the parameters
