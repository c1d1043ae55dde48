"""The ask_user tool: the forms that its arguments become, and what it says of arguments that make none."""

from typing import Any

import pytest

from chat.transcript.questions import Question
from llm_worker.loop.calls import PlannedCall, mark_for_approval, plan_calls
from llm_worker.stream.call_assembler import RequestedCall
from llm_worker.tools.ask_user.tool import AskUser

pytestmark = pytest.mark.pure

CITY = {"name": "city", "question": "Which city?", "type": "choice", "options": ["Berlin", "Paris"]}


def planned(*questions: Any, **arguments: Any) -> PlannedCall:
    given = {"message": "For the trip.", "questions": list(questions), **arguments}
    [call] = mark_for_approval(plan_calls([RequestedCall("1", "ask_user", given, "")], [AskUser()]), {})
    return call


def form_of(call: PlannedCall) -> dict[str, Any]:
    assert call.needs_approval
    assert call.question
    return dict(call.question.form)


def test_a_call_waits_with_the_form_that_it_asks() -> None:
    call = planned(
        CITY | {"default": "Paris"},
        {"name": "nights", "question": " Nights ", "type": "number", "required": False},
        {"name": "extras", "question": "Extras", "type": "choices", "options": ["sea", "sun"], "default": ["sun"]},
        {"name": "why", "question": "Why?", "type": "text"},
    )  # fmt: skip
    extras = {"type": "string", "enum": ["sea", "sun"]}
    assert call.question == Question(
        "For the trip.",
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "title": "Which city?", "enum": ["Berlin", "Paris"], "default": "Paris"},
                "nights": {"type": "number", "title": "Nights"},
                "extras": {"type": "array", "title": "Extras", "items": extras, "minItems": 1, "default": ["sun"], "uniqueItems": True},
                "why": {"type": "string", "title": "Why?", "minLength": 1},
            },
            "required": ["city", "extras", "why"],
        },
    )  # fmt: skip
    assert call.result is None


def test_yes_or_no_and_what_need_not_be_answered() -> None:
    call = planned(
        {"name": "a", "question": "A?", "type": "yes_no", "required": False, "default": None},
        {"name": "b", "question": "B?", "type": "choices", "options": ["x", "y"], "required": False},
    )
    read = form_of(call)
    assert read["properties"]["a"] == {"type": "boolean", "title": "A?"}
    assert (read["properties"]["b"]["minItems"], read["required"]) == (0, [])


@pytest.mark.parametrize(
    ("questions", "says"),
    [
        ([], "questions did not match the schema"),
        ([CITY] * 5, "questions did not match the schema"),
        ([CITY, CITY], "Two questions have the same name."),
        ([{"name": "a", "question": "A?"}], "'type' is a required property"),
        ([{"name": "a", "question": "A?", "type": "secret"}], "'secret' is not one of"),
        ([{"name": "a", "question": "A?", "type": "choice"}], "The question a needs options."),
        ([{"name": "a", "question": "A?", "type": "text", "options": ["x", "y"]}], "has options, which only"),
        ([CITY | {"options": ["Berlin"]}], "options"),
        ([CITY | {"options": [str(n) for n in range(21)]}], "options"),
        ([CITY | {"default": "Rome"}], "The default of city does not fit: 'Rome' is not one of"),
        ([CITY | {"name": ""}], "name"),
        (["Which city?"], "not of type 'object'"),
        ([CITY | {"name": str(n), "options": [f"{n:02}" * 100 for n in range(20)]} for n in range(4)], "characters"),
    ],
)  # fmt: skip
def test_what_makes_no_form_is_said_and_asks_nobody(questions: list[Any], says: str) -> None:
    call = planned(*questions)
    assert not call.needs_approval
    assert call.result
    assert call.result.status == "failed"
    assert says in call.result.response
    assert call.result.response.startswith("ask_user was not run: ")


def test_a_message_is_needed() -> None:
    call = planned(CITY, message="")
    assert call.result
    assert "message" in call.result.response
