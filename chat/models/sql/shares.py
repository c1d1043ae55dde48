"""Statements about what a shared branch shows, however long it is and however many tool calls it has."""

from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.statements import BRANCH, BRANCH_IDS, Statement

# Calls of one answer, those inside agent tools included.
MAX_SHOWN_CALLS: Final = 100
# Characters of the arguments of a call, and of its response.
MAX_CALL_CHARACTERS: Final = 10_000
# Rounds of tools beyond this number begin no paragraph of a shared answer.
MAX_PARAGRAPHS: Final = 1_000
# The sizes that a call and a message are counted for beside their texts.
_CALL_BYTES: Final = 200
_MESSAGE_BYTES: Final = 500


class SizedMessage(NamedTuple):
    """size_bytes: approximately what the page of a share contains of the message."""

    id: UUID
    size_bytes: int


class ShownCall(NamedTuple):
    """parent: the message, or the call of an agent tool. arguments: JSON."""

    parent: UUID
    id: UUID
    name: str
    status: str
    arguments: str
    response: str
    is_shortened: bool


class RoundText(NamedTuple):
    message: UUID
    turn_number: int
    text_before: str


# The messages of a branch without its root, oldest first.
# Parameters: leaf. Plan: BRANCH, then the index of each foreign key once.
SIZES: Final = Statement(
    f"""{BRANCH}, calls AS (
        SELECT run.message_id, least(sum(size), {MAX_SHOWN_CALLS} * max(size)) AS size
        FROM chat_toolcall AS call JOIN chat_run AS run ON run.id = call.run_id, LATERAL (
            SELECT {_CALL_BYTES} + least(octet_length(call.response), {MAX_CALL_CHARACTERS})
                + least(octet_length(call.arguments::text), {MAX_CALL_CHARACTERS}) AS size
        ) AS shown
        WHERE call.run_id = ANY(ARRAY(SELECT id FROM chat_run WHERE message_id = ANY({BRANCH_IDS})))
        GROUP BY run.message_id
    ), cited AS (
        SELECT message_id, sum({_CALL_BYTES} + octet_length(title) + octet_length(url)) AS size
        FROM chat_citeddocument WHERE message_id = ANY({BRANCH_IDS}) GROUP BY message_id
    )
    SELECT branch.id, (
        {_MESSAGE_BYTES} + octet_length(message.text) + octet_length(message.reasoning) + COALESCE(cited.size, 0)
        + COALESCE(calls.size, 0)
    )::bigint
    FROM branch JOIN chat_chatmessage AS message USING (id)
    LEFT JOIN calls ON calls.message_id = branch.id LEFT JOIN cited ON cited.message_id = branch.id
    WHERE message.role <> 'root' ORDER BY branch.depth DESC
    """,  # noqa: S608  constants alone
    SizedMessage,
)


def _shown_calls(column: str) -> Statement[ShownCall]:
    """Return a statement that reads the first calls of each parent, at most `limit`, in their order.

    Parameters: parents, limit. Plan: for each parent, as many entries of one_tool_call_per_place_in_… as are shown,
    however many there are.
    """
    return Statement(
        f"""
        SELECT parent.id, call.id, call.name, call.status,
            CASE WHEN call.size > {MAX_CALL_CHARACTERS} THEN '{{}}' ELSE call.arguments::text END,
            left(call.response, {MAX_CALL_CHARACTERS}),
            call.size > {MAX_CALL_CHARACTERS} OR length(call.response) > {MAX_CALL_CHARACTERS}
        FROM unnest(%(parents)s::uuid[]) WITH ORDINALITY AS parent(id, place), LATERAL (
            SELECT *, octet_length(arguments::text) AS size FROM chat_toolcall
            WHERE {column} = parent.id ORDER BY turn_number, tab_index LIMIT %(limit)s
        ) AS call
        ORDER BY parent.place, call.turn_number, call.tab_index
        """,  # noqa: S608  constants alone
        ShownCall,
    )


CALLS_OF_MESSAGES: Final = _shown_calls("message_id")
CALLS_OF_CALLS: Final = _shown_calls("parent_tool_call_id")
# Parameters: messages. Plan: one_tool_call_per_place_in_message.
ROUND_TEXTS: Final = Statement(
    f"""
    SELECT message.id, round.turn_number, round.text_before
    FROM unnest(%(messages)s::uuid[]) AS message(id), LATERAL (
        SELECT DISTINCT ON (turn_number) turn_number, text_before FROM chat_toolcall
        WHERE message_id = message.id AND text_before <> '' ORDER BY turn_number, tab_index LIMIT {MAX_PARAGRAPHS}
    ) AS round
    ORDER BY message.id, round.turn_number
    """,  # noqa: S608  constants alone
    RoundText,
)
