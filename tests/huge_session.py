"""Fills a session with a long chain of messages and tool calls, past the models: an old database may hold as much."""

from collections.abc import Callable, Sequence
from typing import Any

# Executes one statement with named parameters; returns its rows.
Execute = Callable[[str, dict[str, Any]], Any]
# Ids follow from the session and a number, so that each statement knows those of the others.
_ID = "md5(%(session)s || '{kind}' || {number})::uuid"
_MESSAGES = f"""
    INSERT INTO chat_chatmessage
        (id, session_id, parent_id, parent_role, role, text, reasoning, token_count, request_digest, sent_at)
    SELECT {_ID.format(kind="m", number="n")}, %(session)s::uuid,
        CASE n WHEN 1 THEN root.id ELSE {_ID.format(kind="m", number="(n - 1)")} END,
        CASE WHEN n = 1 THEN 'root' WHEN n %% 2 = 1 THEN 'assistant' ELSE 'user' END,
        CASE n %% 2 WHEN 1 THEN 'user' ELSE 'assistant' END,
        'Message ' || n || repeat(' and more of it', 20), '', 90, '', now() - interval '1 day' + n * interval '1 s'
    FROM generate_series(1, %(messages)s) AS n,
        (SELECT id FROM chat_chatmessage WHERE session_id = %(session)s::uuid AND role = 'root') AS root
    ORDER BY n"""
_CHOSEN = """
    UPDATE chat_chatmessage AS parent SET latest_child_id = child.id
    FROM chat_chatmessage AS child
    WHERE child.session_id = %(session)s::uuid AND parent.session_id = %(session)s::uuid AND child.parent_id = parent.id"""
_LEAF = f"""
    UPDATE chat_session SET leaf_id = {_ID.format(kind="m", number="%(messages)s")} WHERE id = %(session)s::uuid"""
# Only the answers with calls have a turn and a run.
_TURNS = f"""
    INSERT INTO chat_turn (id, session_id, user_message_id, created_at, ended_at, additional_context)
    SELECT {_ID.format(kind="t", number="n")}, %(session)s::uuid, {_ID.format(kind="m", number="(n - 1)")},
        now(), now(), ''
    FROM unnest(%(answers)s::int[]) AS n"""
_RUNS = f"""
    INSERT INTO chat_run
        (id, turn_id, message_id, model, model_index, forced_tool, dynamic_context, status, deadline, created_at,
         ended_at, announced_at, last_seq, saved_seq, error_code, error_message, error_retryable, cycles, attempt,
         failures, upstream_code, upstream_message)
    SELECT {_ID.format(kind="r", number="n")}, {_ID.format(kind="t", number="n")}, {_ID.format(kind="m", number="n")},
        'alpha', 0, '', '', 'completed', now(), now(), now(), now(), 3, 3, '', '', false, 1, 1, 0, '', ''
    FROM unnest(%(answers)s::int[]) AS n"""
_CALLS = f"""
    INSERT INTO chat_toolcall
        (id, run_id, message_id, turn_number, tab_index, tool_call_id, name, arguments, response, documents, report,
         report_reasoning, text_before, reasoning, token_count, status, created_at)
    SELECT {_ID.format(kind="c", number="n || '/' || c")}, {_ID.format(kind="r", number="n")},
        {_ID.format(kind="m", number="n")}, c / 1000, c %% 1000, 'call_' || c, 'web_search', '{{"query": "tides"}}', 'x',
        '[{{"number": 1, "document_id": "d", "title": "t", "url": "u"}}]', '', '', '', '', 20, 'completed', now()
    FROM unnest(%(answers)s::int[]) AS n, generate_series(0, %(calls)s - 1) AS c"""


def fill(execute: Execute, session: str, *, messages: int, calls: int, answers: Sequence[int]) -> None:
    """Give the session, which has only its root, a branch of so many messages: a question, its answer, and so on.

    Call it inside a transaction: the settings below end with it, also when a statement fails.

    answers: the numbers (even, from 2) of those with tool calls.  calls: of each of them.
    """
    values = {"session": session, "messages": messages, "calls": calls, "answers": list(answers)}
    # Where there were few messages when they were analysed, each would be joined, and its foreign keys checked at the commit,
    # by reading all of the session's.
    execute("SELECT set_config('enable_nestloop', 'off', true)", {})
    execute("SELECT set_config('session_replication_role', 'replica', true)", {})
    for statement in (_MESSAGES, _CHOSEN, _LEAF, _TURNS, _RUNS, _CALLS):
        execute(statement, values)
    execute("SELECT set_config('session_replication_role', 'origin', true)", {})
    execute("SELECT set_config('enable_nestloop', 'on', true)", {})
