"""OpenAI's own client takes turns on one websocket, over real processes, while workers die."""

import json
import signal
from typing import Any

import openai
import pytest
from openai.resources.responses.responses import ResponsesConnection
from openai.types.responses import Response, ResponsesServerEvent
from pydantic import TypeAdapter

from tests.e2e.test_openai_functions import QUESTION, WEATHER, output, told, weather
from tests.e2e.test_openai_responses import PREFILL, continued, replayed, text_of
from tests.stack import Stack

# The client does not know the newest release of its library yet.
pytestmark = [pytest.mark.e2e, pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")]
EVENT: TypeAdapter[Any] = TypeAdapter(ResponsesServerEvent)
ENDS = ("response.completed", "response.incomplete", "response.failed", "error")


def events_of(connection: ResponsesConnection) -> list[dict[str, Any]]:
    """The events of the next response, each valid by its type and numbered from 0."""
    events: list[dict[str, Any]] = []
    for event in connection:
        events.append(event.to_dict())
        EVENT.validate_python(events[-1])
        if event.type in ENDS:
            break
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


def ended(connection: ResponsesConnection) -> Response:
    return Response.model_validate(events_of(connection)[-1]["response"])


@pytest.mark.parametrize("is_stored", [True, pytest.param(False, marks=pytest.mark.full)])
def test_turns_with_texts_and_functions_are_taken_on_one_socket(
    stack: Stack, client: openai.OpenAI, is_stored: bool
) -> None:
    stack.upstream.reply(
        {"text": "I look."}, weather("Oslo", "c1"), weather("Kyiv", "c2"), after_tools=0, times=1
    )
    stack.upstream.reply({"text": "Rain in "}, {"text": "Oslo."}, after_tools=2)
    stack.upstream.reply({"text": "So take a coat."}, contains="What now?")
    with client.responses.connect() as connection:
        connection.response.create(model="alpha", generate=False, instructions="Be brief.", tools=[WEATHER])
        warmed = ended(connection)
        connection.response.create(
            model="alpha", input=QUESTION, tools=[WEATHER], store=is_stored, previous_response_id=warmed.id
        )
        asked = events_of(connection)
        first = Response.model_validate(asked[-1]["response"])
        assert [item.type for item in first.output] == ["message", "function_call", "function_call"]
        calls = [item.to_dict() for item in first.output[1:]]
        assert [json.loads(call["arguments"])["city"] for call in calls] == ["Oslo", "Kyiv"]
        connection.response.create(
            input=[output("c1", "Rain"), output("c2", "")],
            previous_response_id=first.id,
            tools=[WEATHER],
            store=is_stored,
        )
        second = ended(connection)
        assert (second.output_text, second.previous_response_id) == ("Rain in Oslo.", first.id)
        connection.response.create(input="What now?", previous_response_id=second.id, store=is_stored)
        third = ended(connection)
        assert (third.output_text, third.conversation) == ("So take a coat.", first.conversation)
        assert [text for role, text in told(stack) if role == "tool"] == ["Rain", "(no output)"]
        connection.response.create(input=[output("c9", "Snow")], previous_response_id=third.id)
        for event in connection:
            assert event.type == "error"
            assert (event.status, event.error.code, event.error.param) == (400, "invalid_value", "input")
            break
    if is_stored:
        assert replayed(client, first.id) == asked
        assert client.responses.retrieve(third.id) == third
    else:
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(third.id)


def test_a_turn_on_a_socket_goes_on_when_its_worker_was_killed(stack: Stack, client: openai.OpenAI) -> None:
    stack.manage("shell", "-v", "0", "-c", PREFILL.format(True))
    stack.upstream.reply({"words": 30}, {"hang": True}, times=1)
    stack.upstream.reply_by(lambda body: [{"text": continued(body)}])
    with client.responses.connect() as connection:
        connection.response.create(model="gamma", input="Count")
        events = []
        for event in connection:
            events.append(event.to_dict())
            if event.type == "response.output_text.delta" and event.delta == "28 ":
                stack.signal("llm", signal.SIGKILL)
                stack.start("llm")
            if event.type in ENDS:
                break
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
        assert text_of(events) == "".join(f"{n} " for n in range(40))
        last = events[-1]["response"]
        assert last["status"] == "completed"
        connection.response.create(input="More", previous_response_id=last["id"])
        assert ended(connection).previous_response_id == last["id"]
    assert replayed(client, last["id"]) == events
