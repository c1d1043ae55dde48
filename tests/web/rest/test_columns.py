"""Answers of several models stand in the columns of their turn, whatever is answered again or asked next."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from chat.models import ModelConfig, Session
from tests import factories

NAMES = ["quick", "deep", "slow"]


@pytest.fixture(autouse=True)
def models(client: APIClient) -> None:
    factories.create_model("slow")


@pytest.fixture
def compared(client: APIClient, session: str) -> dict[str, Any]:
    """A finished turn of three models."""
    return factories.complete_turn(client, session, "Compare", models=NAMES)


def again(client: APIClient, question: str, **body: Any) -> Any:
    return client.post(f"/api/messages/{question}/regenerations/", body, format="json")


def retry(client: APIClient, compared: dict[str, Any], column: int, **body: Any) -> dict[str, Any]:
    """Answer again in a column; returns the new run."""
    response = again(
        client, compared["user_message"], replace={"run": compared["runs"][column]["id"]}, **body
    )
    assert response.status_code == 202, response.json()
    [run] = response.json()["runs"]
    return dict(run)


def branch(client: APIClient, session: str, **query: Any) -> list[dict[str, Any]]:
    return list(client.get(f"/api/sessions/{session}/messages/", query).json())


def columns(answer: dict[str, Any]) -> list[tuple[int, str, str]]:
    """Of an answer and those beside it: column, model and id, by column."""
    shown = [answer, *answer.get("alongside", [])]
    return sorted((one["column"], one["model"], one["id"]) for one in shown)


def of(compared: dict[str, Any], **replaced: dict[str, Any]) -> list[tuple[int, str, str]]:
    """The columns of a turn, with other runs in some of them, by name of the model."""
    runs = [replaced.get(run["model"], run) for run in compared["runs"]]
    return [(column, run["model"], run["message"]) for column, run in enumerate(runs)]


def test_every_turn_of_the_branch_tells_all_its_columns(
    client: APIClient, session: str, compared: dict[str, Any]
) -> None:
    factories.complete_turn(client, session, "Go on")
    second = factories.complete_turn(client, session, "Compare again", models=["deep", "quick"])
    factories.complete_turn(client, session, "Go on")
    messages = branch(client, session)
    assert [columns(message) for message in messages[1::2]][::2] == [of(compared), of(second)]
    assert [one["text"] for one in messages[1]["alongside"]] == ["About Compare"] * 2
    assert "alongside" not in messages[3]
    assert not {"column", "attempts", "alongside"} & messages[0].keys()


def test_a_retry_stands_in_its_column_and_the_branch_stays(
    client: APIClient, session: str, compared: dict[str, Any]
) -> None:
    leaf = Session.objects.get(pk=session).leaf_id
    run = retry(client, compared, 1)
    assert (run["model"], run["model_index"]) == ("deep", 1)
    _, answer = branch(client, session)
    assert answer["id"] == compared["runs"][0]["message"]
    assert columns(answer) == of(compared, deep=run)
    assert Session.objects.get(pk=session).leaf_id == leaf
    assert answer["alongside"][0]["status"] == "queued"
    factories.finish_run(run["id"], "Better")
    _, answer = branch(client, session)
    assert answer["alongside"][0]["text"] == "Better"
    assert answer["alongside"][0]["attempts"] == [compared["runs"][1]["message"], run["message"]]
    assert answer["attempts"] == [compared["runs"][0]["message"]]


def test_a_retry_where_the_conversation_goes_on_becomes_current(
    client: APIClient, session: str, compared: dict[str, Any]
) -> None:
    run = retry(client, compared, 0)
    _, answer = branch(client, session)
    assert answer["id"] == run["message"] == str(Session.objects.get(pk=session).leaf_id)
    assert columns(answer) == of(compared, quick=run)
    client.post(f"/api/messages/{compared['runs'][0]['message']}/selection/")
    _, answer = branch(client, session)
    assert columns(answer) == of(compared), "an earlier attempt is shown in the same column"


def test_a_retry_of_a_retry_stands_there_too(
    client: APIClient, session: str, compared: dict[str, Any]
) -> None:
    first = retry(client, compared, 2)
    factories.finish_run(first["id"])
    response = again(client, compared["user_message"], replace={"run": first["id"]}, models=["deep"])
    [second] = response.json()["runs"]
    _, answer = branch(client, session)
    assert columns(answer) == of(compared, slow=second)
    assert answer["alongside"][1]["attempts"] == [
        compared["runs"][2]["message"], first["message"], second["message"],
    ]  # fmt: skip


def test_a_retry_while_the_other_columns_are_written(client: APIClient, session: str) -> None:
    started = factories.send_turn(client, session, models=NAMES).json()
    factories.finish_run(started["runs"][1]["id"])
    run = retry(client, started, 1)
    _, answer = branch(client, session)
    assert columns(answer) == of(started, deep=run)
    for each in (started["runs"][0], run, started["runs"][2]):
        factories.finish_run(each["id"], each["model"])
    _, answer = branch(client, session)
    assert [answer["text"], *(one["text"] for one in answer["alongside"])] == NAMES
    assert not client.get(f"/api/sessions/{session}/").json()["is_answering"]


def test_a_retry_in_an_earlier_turn_leaves_what_follows(
    client: APIClient, session: str, compared: dict[str, Any]
) -> None:
    factories.complete_turn(client, session, "Go on")
    run = retry(client, compared, 2)
    messages = branch(client, session)
    assert [one["text"] for one in messages[::2]] == ["Compare", "Go on"]
    assert columns(messages[1]) == of(compared, slow=run)


def test_the_next_question_continues_the_chosen_column_alone(
    client: APIClient, session: str, compared: dict[str, Any]
) -> None:
    run = retry(client, compared, 1)
    factories.finish_run(run["id"])
    client.post(f"/api/messages/{run['message']}/selection/")
    second = factories.complete_turn(client, session, "Go on")
    messages = branch(client, session)
    assert messages[2]["parent"] == run["message"]
    assert messages[2]["id"] == second["user_message"]
    assert columns(messages[1]) == of(compared, deep=run)


def test_an_edited_question_and_the_one_before_keep_their_columns(
    client: APIClient, session: str, compared: dict[str, Any]
) -> None:
    edited = factories.complete_turn(client, session, "Compare more", parent=None, models=["deep", "slow"])
    assert columns(branch(client, session)[1]) == of(edited)
    client.post(f"/api/messages/{compared['user_message']}/selection/")
    assert columns(branch(client, session)[1]) == of(compared)


def test_without_a_column_the_answers_are_a_new_turn_as_before(
    client: APIClient, session: str, compared: dict[str, Any]
) -> None:
    response = again(client, compared["user_message"], models=["slow"])
    [run] = response.json()["runs"]
    _, answer = branch(client, session)
    assert columns(answer) == [(0, "slow", run["message"])]
    assert len(answer["siblings"]) == 4
    assert answer["attempts"] == [run["message"]]


def test_a_whole_turn_is_answered_again_by_the_models_that_are_shown(
    client: APIClient, session: str, compared: dict[str, Any]
) -> None:
    factories.complete_turn(client, session, "Other", parent=None, models=["quick"])
    factories.finish_run(retry(client, compared, 0)["id"])
    started = again(client, compared["user_message"]).json()
    assert [run["model"] for run in started["runs"]] == NAMES
    assert columns(branch(client, session)[1]) == of(started)


def test_a_page_of_older_messages_tells_columns(
    client: APIClient, session: str, compared: dict[str, Any]
) -> None:
    second = factories.complete_turn(client, session, "Go on")
    older = branch(client, session, before=second["user_message"], limit=1)
    assert columns(older[0]) == of(compared)


def test_the_number_of_queries_does_not_depend_on_the_turns(
    client: APIClient, session: str, compared: dict[str, Any]
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            branch(client, session)
        return len(captured)

    few = queries()
    for number in range(3):
        turn = factories.complete_turn(client, session, f"Compare {number}", models=NAMES)
        factories.finish_run(retry(client, turn, 1)["id"])
    assert queries() == few


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"replace": {}}, 400, "field_required"),
        ({"replace": {"run": "x"}}, 400, "invalid_id"),
        ({"replace": {"run": "00000000-0000-4000-8000-000000000000"}}, 404, "run_not_found"),
        ({"replace": {"run": "RUN", "model": "deep"}}, 400, "unknown_field"),
        ({"replace": {"run": "RUN"}, "models": ["deep", "quick"]}, 400, "models_invalid"),
    ],
)
def test_a_column_that_cannot_be_replaced_is_refused(
    client: APIClient, session: str, compared: dict[str, Any], body: dict[str, Any], status: int, code: str
) -> None:
    if body["replace"].get("run") == "RUN":
        body["replace"]["run"] = compared["runs"][0]["id"]
    refused = again(client, compared["user_message"], **body)
    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert len(branch(client, session)[1]["siblings"]) == 3


def test_the_run_of_another_question_is_refused(
    client: APIClient, session: str, compared: dict[str, Any]
) -> None:
    other = factories.complete_turn(client, session, "Other")
    refused = again(client, compared["user_message"], replace={"run": other["runs"][0]["id"]})
    assert (refused.status_code, refused.json()["code"]) == (404, "run_not_found")


def test_a_column_whose_model_is_gone_is_answered_by_the_default(
    client: APIClient, compared: dict[str, Any]
) -> None:
    ModelConfig.objects.filter(name="deep").update(enabled=False)
    assert retry(client, compared, 1)["model"] == "quick"
