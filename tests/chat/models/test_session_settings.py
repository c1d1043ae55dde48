"""The settings of a session: one column, which processes of the version before know as six."""

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.models import Session
from chat.transcript.answer_settings import SessionSettings
from tests.former_columns import execute, read_columns

pytestmark = pytest.mark.django_db

BASE = uuid4()
SET: dict[str, Any] = {
    "while_answering": "reject", "tools": ["current_time"], "reminder": "Be brief.", "prompt": "In rhyme.",
    "options": {"seed": 1, "top_p": None}, "knowledge_bases": [BASE],
}  # fmt: skip


@pytest.fixture
def session() -> Session:
    return Session.objects.start(User.objects.create_user("alice"), title="Tides")


def columns(session: Session) -> dict[str, Any]:
    return read_columns(session, [*SET])


def stored(session: Session) -> SessionSettings:
    return Session.objects.get(pk=session.pk).settings


def test_the_version_before_reads_what_this_one_sets(session: Session) -> None:
    assert columns(session)["while_answering"] == "enqueue"
    session.change(**SET)
    assert columns(session) == {**SET, "options": '{"seed": 1, "top_p": null}'}
    new = Session.objects.start(session.owner, **SET)
    assert columns(new) == columns(session)
    session.change(prompt="", tools=[])
    assert (columns(session)["prompt"], columns(session)["tools"]) == ("", [])


def test_this_version_reads_what_the_version_before_sets(session: Session) -> None:
    execute(
        "UPDATE chat_session SET prompt = 'In rhyme.', tools = '{current_time}' WHERE id = %s", session.pk
    )
    assert stored(session) == SessionSettings(prompt="In rhyme.", tools=["current_time"])
    execute("UPDATE chat_session SET prompt = '', options = '{\"seed\": null}' WHERE id = %s", session.pk)
    assert stored(session) == SessionSettings(tools=["current_time"], options={"seed": None})
    execute(
        "INSERT INTO chat_session (id, owner_id, title, reminder, knowledge_bases, while_answering, latest_event, "
        "seen_event, answered_event, created_at, updated_at) "
        "SELECT %s, owner_id, '', 'Be brief.', ARRAY[%s]::uuid[], 'interrupt', 0, 0, 0, now(), now() FROM chat_session",
        new := uuid4(),
        BASE,
    )
    assert stored(Session(pk=new)) == SessionSettings(
        reminder="Be brief.", knowledge_bases=[BASE], while_answering="interrupt"
    )


def test_a_change_before_the_column_is_filled_keeps_what_was_set(session: Session) -> None:
    """As between the two migrations."""
    execute("SET session_replication_role = replica")  # no trigger
    execute("UPDATE chat_session SET prompt = 'In rhyme.', settings = NULL WHERE id = %s", session.pk)
    execute("SET session_replication_role = DEFAULT")
    session.change(while_answering="reject")
    assert stored(session) == SessionSettings(prompt="In rhyme.", while_answering="reject")
    assert columns(session)["prompt"] == "In rhyme."


def test_sessions_in_which_nothing_is_set_are_listed(session: Session, client: Client) -> None:
    execute("UPDATE chat_session SET settings = NULL WHERE id = %s", session.pk)
    client.force_login(session.owner)
    [listed] = client.get("/api/sessions/").json()["results"]
    assert (listed["prompt"], listed["tools"]) == ("", [])


def test_a_change_leaves_what_others_set_and_what_a_later_version_knows(session: Session) -> None:
    execute("UPDATE chat_session SET settings = '{\"later\": true}' WHERE id = %s", session.pk)
    Session.objects.get(pk=session.pk).change(reminder="Be brief.")
    session.change(prompt="In rhyme.")
    execute("UPDATE chat_session SET tools = '{current_time}' WHERE id = %s", session.pk)
    assert stored(session) == SessionSettings(
        reminder="Be brief.", prompt="In rhyme.", tools=["current_time"]
    )
    assert Session.objects.filter(pk=session.pk, settings__later=True).exists()
