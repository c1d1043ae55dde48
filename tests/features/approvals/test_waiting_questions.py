"""Questions that wait for the answer above: changed in place, taken out of the middle, and never while they are answered."""

from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import pytest
from django.db import connection, connections, transaction
from rest_framework.test import APIClient

from chat.models import ChatMessage, Run, Session, SessionEvent, Turn
from chat.models.message_additions import PromptBlock
from chat.models.outcome import RunOutcome
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from chat.runs.completion import announce, commit_end
from chat.turns import edits
from chat.turns.edits import change_question, withdraw_question
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


def send(client: APIClient, session: str, *texts: str, **body: Any) -> list[dict[str, Any]]:
    return [factories.send_turn(client, session, text, **body).json() for text in texts]


def change(client: APIClient, message: str, text: str) -> Any:
    return client.patch(f"/api/messages/{message}/", {"text": text}, format="json")


def withdraw(client: APIClient, started: dict[str, Any]) -> Any:
    return client.post(f"/api/messages/{started['user_message']}/withdrawal/")


def question_of(started: dict[str, Any]) -> ChatMessage:
    return ChatMessage.objects.select_related("session").get(pk=started["user_message"])


def test_any_waiting_question_is_changed_in_place_and_answered_with_its_new_text(
    client: APIClient, session: str
) -> None:
    first, second, third = send(client, session, "one", "two", "three")
    events = SessionEvent.objects.filter(session=session, kind="session").count()
    answer = change(client, second["user_message"], "two, but better")
    assert (answer.status_code, answer.json()["text"]) == (200, "two, but better")
    assert answer.json()["token_count"] > 1
    assert factories.message_texts(client, session) == ["one", "", "two, but better", "", "three", ""]
    # For the other tabs.
    assert SessionEvent.objects.filter(session=session, kind="session").count() == events + 1
    for started in (first, second, third):
        assert factories.finish_run(started["runs"][0]["id"]).status == Status.COMPLETED
    refused = change(client, third["user_message"], "too late")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_waiting")


def test_a_question_that_is_answered_or_an_answer_cannot_be_changed(client: APIClient, session: str) -> None:
    first, second = send(client, session, "one", "two")
    for message in (first["user_message"], first["runs"][0]["message"], second["runs"][0]["message"]):
        assert change(client, message, "other").json()["code"] == "not_waiting"
    factories.finish_run(first["runs"][0]["id"])
    # No worker has it yet, but any may take it at this moment.
    assert change(client, second["user_message"], "other").json()["code"] == "not_waiting"


def test_a_changed_question_has_the_limits_of_a_sent_one(
    client: APIClient, session: str, settings: Any
) -> None:
    settings.MAX_MESSAGE_CHARACTERS = 10
    _, second = send(client, session, "one", "two")
    for text, code in (("", "message_empty"), ("\u200b", "message_empty"), ("x" * 11, "message_too_long")):
        assert change(client, second["user_message"], text).json()["code"] == code
    settings.MAX_STORED_BYTES_PER_USER = 1
    assert change(client, second["user_message"], "longer").json()["code"] == "storage_full"
    assert change(client, second["user_message"], "no").status_code == 200


def test_nobody_changes_a_question_of_another(client: APIClient, session: str) -> None:
    _, second = send(client, session, "one", "two")
    mallory = factories.api_client(factories.create_user("mallory"))
    assert change(mallory, second["user_message"], "mine").status_code == 404


def test_a_question_taken_from_the_middle_leaves_those_below_in_their_order(
    client: APIClient, session: str
) -> None:
    first, second, third, fourth = send(client, session, "one", "two", "three", "four")
    assert withdraw(client, second).json()["leaf"] == fourth["runs"][0]["message"]
    assert factories.message_texts(client, session) == ["one", "", "three", "", "four", ""]
    assert str(factories.current_tip(session).pk) == fourth["runs"][0]["message"]
    assert Run.objects.get(pk=second["runs"][0]["id"]).status == Status.STOPPED
    assert [str(turn.after_id) for turn in Turn.objects.filter(pk__in=[third["turn"], fourth["turn"]])] == [
        first["turn"],
        third["turn"],
    ]
    # The withdrawn one stays beside the one that took its place.
    assert set(question_of(third).siblings().values_list("text", flat=True)) == {"two", "three"}
    assert Run.objects.claim(third["runs"][0]["id"], owner=1) is None
    for started in (first, third, fourth):
        factories.finish_run(started["runs"][0]["id"], "An answer")
    assert factories.message_texts(client, session)[-2:] == ["four", "An answer"]


def test_all_of_several_models_answers_lose_what_waited_below_them(client: APIClient, session: str) -> None:
    factories.create_model("other")
    send(client, session, "one")
    [second] = send(client, session, "two", models=["quick", "other"])
    [third] = send(client, session, "three")
    client.post(f"/api/messages/{second['runs'][1]['message']}/selection/")
    [beside] = send(client, session, "beside three")
    assert withdraw(client, second).status_code == 200
    assert factories.message_texts(client, session) == ["one", "", "beside three", ""]
    parents = {question_of(started).parent_id for started in (second, third, beside)}
    assert len(parents) == 1
    assert str(factories.current_tip(session).pk) == beside["runs"][0]["message"]


def test_a_question_on_another_branch_is_taken_out_without_moving_the_current_one(
    client: APIClient, session: str
) -> None:
    [first] = send(client, session, "one")
    factories.finish_run(first["runs"][0]["id"])
    _, waiting_there = send(client, session, "two", "waits")
    [here] = send(client, session, "two, edited", parent=first["runs"][0]["message"])
    leaf = Session.objects.get(pk=session).leaf_id
    assert str(leaf) == here["runs"][0]["message"]
    assert withdraw(client, waiting_there).json()["leaf"] == str(leaf)
    assert factories.current_tip(session).pk == leaf


def test_prompt_blocks_of_a_withdrawn_question_stay_in_force_below(client: APIClient, session: str) -> None:
    _, second, third = send(client, session, "one", "two", "three")
    withdrawn, below = question_of(second), question_of(third)
    PromptBlock.objects.create(message=withdrawn, kind="CA", text="Be brief.", token_count=3)
    PromptBlock.objects.create(message=withdrawn, kind="D", text="old", token_count=1)
    PromptBlock.objects.create(message=below, kind="D", text="new", token_count=1)
    withdraw(client, second)
    assert PromptBlock.objects.latest_on_branch(below) == {"CA": "Be brief.", "D": "new"}


def end_and_claim(first: dict[str, Any], second: dict[str, Any]) -> str | None:
    """What workers do: end the first turn, then claim the second one's run, and read its question."""
    try:
        factories.finish_run(first["runs"][0]["id"])
        run = Run.objects.claim(second["runs"][0]["id"], owner=2)
        return run and ChatMessage.objects.get(pk=run.turn.user_message_id).text
    finally:
        connections.close_all()


@pytest.mark.parametrize("act", [lambda one: change_question(one, "changed"), withdraw_question])
def test_a_question_that_was_claimed_after_it_was_read_is_refused(
    client: APIClient, session: str, act: Any
) -> None:
    first, second = send(client, session, "one", "two")
    seen_waiting = question_of(second)
    assert end_and_claim(first, second) == "two"
    with pytest.raises(ApiError) as refused:
        act(seen_waiting)
    assert refused.value.code == "not_waiting"
    assert question_of(second).text == "two"
    assert Run.objects.get(pk=second["runs"][0]["id"]).status == Status.RUNNING


def test_a_claim_waits_for_a_change_that_has_begun_and_reads_the_new_text(
    client: APIClient, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change holds the session's lock when the turn above ends: that end, and the claim, come after it."""
    first, second = send(client, session, "one", "two")
    get_waiting_turn = edits.get_waiting_turn
    with ThreadPoolExecutor(1) as workers:
        claims = []

        def end_meanwhile(question: ChatMessage) -> Turn:
            turn = get_waiting_turn(question)
            claims.append(workers.submit(end_and_claim, first, second))
            wait_until_locked()
            return turn

        monkeypatch.setattr(edits, "get_waiting_turn", end_meanwhile)
        change_question(question_of(second), "changed")
        wait(claims)
    assert claims[0].result() == "changed"


def test_a_change_waits_for_an_end_that_has_begun_and_is_refused(client: APIClient, session: str) -> None:
    first, second = send(client, session, "one", "two")
    run = Run.objects.claim(first["runs"][0]["id"], owner=1)
    assert run is not None

    def change_now() -> str:
        try:
            change_question(question_of(second), "changed")
        except ApiError as refused:
            return refused.code
        finally:
            connections.close_all()
        return "changed"

    with ThreadPoolExecutor(1) as others:
        with transaction.atomic():
            Session.objects.lock(session)
            changed = others.submit(change_now)
            wait_until_locked()
            assert commit_end(run.pk, run.attempt, RunOutcome(Status.COMPLETED, last_seq=3, text="So."))
            announce(run.pk)
        assert changed.result() == "not_waiting"
    assert question_of(second).text == "two"


def wait_until_locked() -> None:
    """Until another connection waits for a lock."""
    with connection.cursor() as cursor:
        while True:
            cursor.execute("SELECT count(*) FROM pg_locks, pg_sleep(0.02) WHERE NOT granted")
            if cursor.fetchone()[0]:
                return
