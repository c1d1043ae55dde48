"""What reads a branch reads it by index, each table once, however long the branch is."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from chat.models import ChatMessage, Session
from chat.models.sql import messages
from chat.models.sql.messages import HIGHEST_DOCUMENT_NUMBER, LATEST_BLOCKS
from chat.models.sql.statements import Statement
from llm_worker.loading import branch, branch_summaries
from tests import factories, huge_session

pytestmark = pytest.mark.django_db(transaction=True)
MESSAGES = 5000
CALLS = 1000
# Tables whose size depends on all users together.
LARGE = ("chat_chatmessage", "chat_toolcall", "chat_run")
OF_A_LEAF = {
    "messages": branch.MESSAGES,
    "highest number": HIGHEST_DOCUMENT_NUMBER,
    "latest blocks": LATEST_BLOCKS,
    "summaries": branch_summaries.SUMMARIES,
    "sizes": messages.SIZES,
    "covered blocks": branch_summaries.BLOCKS,
    "covered files": branch_summaries.FILES,
}


def execute(statement: str, values: dict[str, Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


@pytest.fixture
def leaf() -> UUID:
    """The tip of a chain of 5,000 messages with 1,000 tool calls in two answers, beside what others have asked."""
    alice = factories.create_user("alice")
    others, session = (Session.objects.start(alice) for _ in range(2))
    with transaction.atomic():
        huge_session.fill(
            execute, str(others.pk), messages=MESSAGES, calls=8, answers=range(2, MESSAGES + 1, 2)
        )
        huge_session.fill(
            execute, str(session.pk), messages=MESSAGES, calls=CALLS // 2, answers=[2, MESSAGES]
        )
    execute("ANALYZE", {})
    leaf = Session.objects.get(pk=session.pk).leaf_id
    assert isinstance(leaf, UUID)
    return leaf


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from nodes(inner)


def explain(statement: Statement[Any], **parameters: object) -> list[dict[str, Any]]:
    """The nodes of the plan, as it was executed."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement.sql}", parameters)
        [(found,)] = cursor.fetchall()
    plan = found if isinstance(found, list) else json.loads(found)
    return list(nodes(plan[0]["Plan"]))


def assert_reads_each_table_once(name: str, plan: list[dict[str, Any]]) -> None:
    scanned = {node["Relation Name"] for node in plan if node["Node Type"] == "Seq Scan"}
    assert not scanned & set(LARGE), name
    looked_up = [node for node in plan if node.get("Relation Name") == "chat_toolcall"]
    assert sum(node["Actual Loops"] for node in looked_up) <= len(looked_up), name
    per_message = [node for node in plan if str(node.get("Subplan Name", "")).startswith("SubPlan")]
    assert not [node for node in per_message if node["Actual Loops"] > 1], name


def test_no_table_is_scanned_and_none_is_read_for_each_message(leaf: UUID) -> None:
    """One test, since the rows take seconds to insert."""
    for name, statement in OF_A_LEAF.items():
        assert_reads_each_table_once(name, explain(statement, leaf=leaf))
    assert_reads_each_table_once(
        "messages after a cutoff", explain(branch.AFTER_CUTOFF, leaf=leaf, cutoff=None)
    )
    answers = ChatMessage.objects.branch_to(leaf).filter(tool_calls__isnull=False)
    ids = sorted({answer.pk for answer in answers})
    assert len(ids) == 2
    assert_reads_each_table_once("calls", explain(branch.CALLS, answers=ids))
    loaded = branch.load_branch(leaf)
    assert len(loaded.entries) == MESSAGES
    assert loaded.highest_number == 1
    assert sum(len(each.calls) for entry in loaded.entries for each in entry.rounds) == CALLS
