"""OpenAI's own client approves and refuses calls of a real MCP server, or somebody does on the page, over real processes."""

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import psycopg
import pytest
import redis
from openai.types.responses import Response

from tests.e2e.test_openai_functions import WEATHER, output
from tests.e2e.test_openai_responses import checked, replayed, text_of
from tests.instance import is_listening
from tests.stack import Stack
from tests.tool_fixtures import streamed_call

pytestmark = pytest.mark.e2e
MODEL = "agent/scribe"
EXPIRE = "UPDATE chat_approval SET expires_at = '2000-01-01T00:00:00Z'"


def until(condition: Callable[[], Any]) -> Any:
    limit = time.monotonic() + 60
    while not (value := condition()):
        assert time.monotonic() < limit
        time.sleep(0.05)
    return value


@pytest.fixture(scope="module")
def journal(running_stack: Stack) -> Iterator[Path]:
    """What the calls of a server have written, which runs."""
    stack = running_stack
    path = stack.directory / "journal"
    command = f"{sys.executable} -m tests.mcp_server http {stack.mcp_port}"
    stack.start(command, "tests server", {"JOURNAL": str(path)})
    until(lambda: is_listening(stack.mcp_port))
    yield path
    stack.signal("tests server", signal.SIGKILL)


def ask_rest(stack: Stack, token: str, method: str, path: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Token {token}"}
    url = f"{stack.base_url}/api/{path}"
    answer = httpx2.request(method, url, json=body, headers=headers, trust_env=False)
    answer.raise_for_status()
    return answer.json()


@pytest.fixture
def scribe(stack: Stack, client: openai.OpenAI, journal: Path) -> Path:
    """An agent with the tools of the server; returns what they have written, from now on."""
    root = stack.create_token("root")
    server = {"name": "tests", "transport": "http", "url": f"http://127.0.0.1:{stack.mcp_port}/mcp"}
    ask_rest(stack, root, "POST", "mcp-servers/", server)
    until(lambda: [entry["status"] for entry in ask_rest(stack, root, "GET", "mcp-servers/")] == ["ready"])
    agent = {"name": "Scribe", "prompt": "", "tools": ["tests__*"]}
    ask_rest(stack, client.api_key, "POST", "agents/", agent)
    journal.write_text("")
    return journal


def drop_logs(stack: Stack) -> None:
    with redis.Redis.from_url(stack.environment["REDIS_URL"]) as server:
        server.delete(*server.keys("turnwire:*:run:*"))


def write(text: str, call_id: str = "c1") -> dict[str, Any]:
    return {"call": {"name": "tests__write", "id": call_id, "arguments": {"text": text}}}


def reply(request: Any, approve: bool, reason: str | None = None) -> Any:
    more = {"reason": reason} if reason else {}
    return {"type": "mcp_approval_response", "approval_request_id": request.id, "approve": approve, **more}


def requests_of(response: Response) -> list[Any]:
    assert response.status == "completed"
    return [item for item in response.output if item.type == "mcp_approval_request"]


def told(stack: Stack) -> list[str]:
    """What the latest request told the model that its calls returned."""
    return [
        message["content"] for message in stack.upstream.requests[-1].messages if message["role"] == "tool"
    ]


def ask(client: openai.OpenAI, **more: Any) -> Response:
    response: Response = client.responses.create(model=MODEL, input="Write it down", **more)
    return response


def test_a_call_that_is_approved_runs_in_the_next_response(
    stack: Stack, client: openai.OpenAI, scribe: Path
) -> None:
    stack.upstream.reply({"text": "I write. "}, write("Ebbe"), after_tools=0, times=1)
    stack.upstream.reply({"text": "Written "}, {"text": "down."}, after_tools=1)
    asked = checked(
        client.responses.create(
            model=MODEL,
            input="Write it down",
            stream=True,
            metadata={"app": "pier"},
            instructions="Be brief.",
        )
    )
    first = Response.model_validate(asked[-1]["response"])
    assert [item.type for item in first.output] == ["message", "mcp_approval_request"]
    [request] = requests_of(first)
    assert (request.name, json.loads(request.arguments)) == ("tests__write", {"text": "Ebbe"})
    assert (request.server_label, first.usage) == ("turnwire", None)
    assert scribe.read_text() == ""
    assert replayed(client, first.id) == asked
    assert client.responses.retrieve(first.id).to_dict() == asked[-1]["response"]

    answered = checked(
        client.responses.create(
            input=[reply(request, approve=True)], previous_response_id=first.id, stream=True,
            metadata={"step": "two"}, background=True,
        )
    )  # fmt: skip
    second = Response.model_validate(answered[-1]["response"])
    assert (second.id, second.previous_response_id) == (f"{first.id}01", first.id)
    assert [item.type for item in second.output] == ["mcp_call", "message"]
    call = second.output[0].to_dict()
    assert (call["approval_request_id"], call["status"], call["output"]) == (
        request.id,
        "completed",
        "written",
    )
    assert second.output_text == "Written down."
    assert second.conversation is not None
    items = client.conversations.items
    listed = items.list(second.conversation.id, order="asc").data
    kinds = ["message", "message", "mcp_approval_request", "mcp_approval_response", "mcp_call", "message"]
    assert [item.type for item in listed] == kinds
    for item in listed:
        assert items.retrieve(str(item.id), conversation_id=second.conversation.id) == item
    assert (second.metadata, second.background, second.instructions) == ({"step": "two"}, True, "Be brief.")
    assert second.usage is not None
    for after in (-1, 0, 3, len(answered) - 2):
        more = {"starting_after": after} if after >= 0 else {}
        assert replayed(client, second.id, **more) == answered[after + 1 :]
    assert client.responses.retrieve(second.id).to_dict() == answered[-1]["response"]
    # The first one stays as it was.
    assert replayed(client, first.id) == asked


def test_what_goes_on_is_continued_referred_to_and_deleted(
    stack: Stack, client: openai.OpenAI, scribe: Path
) -> None:
    stack.upstream.reply(write("Ebbe"), after_tools=0, times=1)
    stack.upstream.reply({"text": "Written down."}, after_tools=1)
    first = ask(client)
    [request] = requests_of(first)
    second = client.responses.create(input=[reply(request, approve=True)], previous_response_id=first.id)
    assert scribe.read_text().startswith("Ebbe ")
    [item] = client.responses.input_items.list(second.id).data
    assert item.to_dict().items() >= {"approve": True, "approval_request_id": request.id}.items()
    [question] = client.responses.input_items.list(first.id).data
    assert question.type == "message"

    stack.upstream.reply({"text": "No more."}, contains="What else?")
    third = client.responses.create(input="What else?", previous_response_id=second.id)
    assert (third.output_text, third.previous_response_id) == ("No more.", second.id)
    for questions in ("What else?", [output("c1", "Rain")]):
        with pytest.raises(openai.BadRequestError, match=f"Continue {second.id}") as refused:
            client.responses.create(input=questions, previous_response_id=first.id)
        assert refused.value.param == "previous_response_id"
    reference: Any = [
        {"role": "user", "content": "Hm"},
        {"type": "item_reference", "id": second.output[1].id},
        {"role": "user", "content": "What else?"},
    ]
    assert client.responses.create(input=reference, model="alpha").output_text == "No more."
    assert "Written down." in json.dumps(stack.upstream.requests[-1].messages)
    client.responses.delete(second.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(first.id)


@pytest.fixture
def asking(stack: Stack, client: openai.OpenAI, scribe: Path) -> Response:
    """A response that asks about two of three calls."""
    echo = {"call": {"name": "tests__echo", "id": "c2", "arguments": {"text": "hi"}}}
    stack.upstream.reply(write("one"), echo, write("two", "c3"), after_tools=0, times=1)
    stack.upstream.reply({"text": "Half of it."}, after_tools=3)
    return ask(client)


def test_what_does_not_answer_each_request_once_is_refused(client: openai.OpenAI, asking: Response) -> None:
    first, second = requests_of(asking)
    unknown = {**reply(second, approve=True), "approval_request_id": "mcpr_1"}
    both = [reply(first, approve=True), reply(second, approve=True)]
    for replies, param, more in [
        (both[:1], "input", {}),
        ([both[0], both[0]], "input.1.approval_request_id", {}),
        ([both[0], unknown], "input", {}),
        ([both[0], {"role": "user", "content": "And?"}], "input.1", {}),
        ([{"role": "user", "content": "And?"}, both[0]], "input", {}),
        ([{"role": "user", "content": "And?"}, first.to_dict(), second.to_dict(), *both], "input", {}),
        (both, "model", {"model": "beta"}),
    ]:
        with pytest.raises(openai.BadRequestError) as refused:
            client.responses.create(input=replies, previous_response_id=asking.id, **more)
        assert refused.value.param == param
    with pytest.raises(openai.BadRequestError):
        client.responses.create(input=both)
    with pytest.raises(openai.ConflictError) as waiting:
        client.responses.create(input="And now?", previous_response_id=asking.id)
    assert (waiting.value.code, waiting.value.param) == ("parent_in_progress", "previous_response_id")
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(f"{asking.id}01")
    assert client.responses.retrieve(asking.id) == asking


def test_of_several_calls_each_is_approved_or_refused_once(
    stack: Stack, client: openai.OpenAI, scribe: Path, asking: Response
) -> None:
    types = ["mcp_call", "mcp_approval_request", "mcp_approval_request"]
    assert [item.type for item in asking.output] == types
    first, second = requests_of(asking)
    replies = [reply(second, approve=False, reason="Not on Sundays."), reply(first, approve=True)]
    answered = client.responses.create(input=replies, previous_response_id=asking.id)
    approved, refused_call = (item.to_dict() for item in answered.output[:2])
    assert (approved["status"], refused_call["status"]) == ("completed", "failed")
    assert "Not on Sundays." in json.dumps(refused_call["error"])
    assert refused_call["approval_request_id"] == second.id
    assert answered.output_text == "Half of it."
    assert told(stack)[2].endswith("They say: Not on Sundays.")
    assert scribe.read_text().count("\n") == 1
    with pytest.raises(openai.ConflictError) as decided:
        client.responses.create(input=replies, previous_response_id=asking.id)
    assert decided.value.code == "already_decided"
    with pytest.raises(openai.BadRequestError):
        client.responses.create(input=replies, previous_response_id=answered.id)


@pytest.mark.usefixtures("scribe")
def test_a_response_may_ask_as_often_as_it_calls(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply(write("one"), after_tools=0, times=1)
    stack.upstream.reply({"text": "And on."}, write("two", "c2"), after_tools=1, times=1)
    stack.upstream.reply({"text": "Done."}, after_tools=2)
    response, ids = ask(client, background=True), []
    response = Response.model_validate(replayed(client, response.id)[-1]["response"])
    while requests := requests_of(response):
        ids.append(response.id)
        answers = [reply(request, approve=True) for request in requests]
        events = checked(
            client.responses.create(input=answers, previous_response_id=response.id, stream=True)
        )
        response = Response.model_validate(events[-1]["response"])
        assert replayed(client, response.id) == events
    assert ids == [ids[0], f"{ids[0]}01"]
    assert [item.type for item in response.output] == ["mcp_call", "message"]
    drop_logs(stack)
    assert replayed(client, response.id) == events
    usages = [client.responses.retrieve(name).usage for name in ids]
    assert usages == [None, None]
    assert response.usage is not None


@pytest.mark.parametrize("names_it", [True, False], ids=["by its id", "by the conversation"])
def test_what_is_not_stored_is_answered_while_it_waits(
    stack: Stack, client: openai.OpenAI, scribe: Path, names_it: bool
) -> None:
    stack.upstream.reply(write("one"), after_tools=0, times=1)
    stack.upstream.reply({"text": "And on."}, write("two", "c2"), after_tools=1, times=1)
    stack.upstream.reply({"text": "Done."}, after_tools=2, times=1)
    response = ask(client, store=False)
    conversation: list[Any] = [{"role": "user", "content": "Write it down"}]
    ids = [response.id]
    while requests := requests_of(response):
        answers = [reply(request, approve=True) for request in requests]
        conversation += [*(item.to_dict() for item in response.output), *answers]
        if names_it:
            response = client.responses.create(
                input=answers, previous_response_id=response.id, model=MODEL, store=False
            )
        else:
            response = client.responses.create(input=conversation, model=MODEL, store=False)
        ids.append(response.id)
    assert ids == [ids[0], f"{ids[0]}01", f"{ids[0]}02"]
    assert (response.output_text, response.store) == ("Done.", False)
    assert scribe.read_text().count("\n") == 2
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.create(input=answers, previous_response_id=ids[-2])
    # What is told again of all that, and goes on, is a conversation as any other.
    stack.upstream.reply({"text": "You are welcome."}, contains="Thanks")
    conversation += [*(item.to_dict() for item in response.output), {"role": "user", "content": "Thanks"}]
    assert (
        client.responses.create(input=conversation, model=MODEL, store=False).output_text
        == "You are welcome."
    )


@pytest.mark.usefixtures("scribe")
def test_what_is_not_stored_is_cancelled_while_it_waits(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply(write("one"), after_tools=0, times=1)
    response = ask(client, store=False)
    assert client.responses.cancel(response.id).id == response.id
    with pytest.raises(openai.NotFoundError):
        client.responses.create(
            input=[reply(request, approve=True) for request in requests_of(response)],
            previous_response_id=response.id,
        )
    assert ask_rest(stack, client.api_key, "GET", "approvals/") == []


@pytest.mark.parametrize("decides", ["page", "time", "cancel"])
@pytest.mark.usefixtures("scribe")
def test_what_is_decided_elsewhere_is_read_by_the_next_id(
    stack: Stack, client: openai.OpenAI, decides: str
) -> None:
    stack.upstream.reply(write("one"), after_tools=0, times=1)
    stack.upstream.reply({"text": "So."}, after_tools=1)
    first = ask(client)
    [request] = requests_of(first)
    if decides == "page":
        [listed] = ask_rest(stack, client.api_key, "GET", "approvals/")
        path = f"tool-calls/{listed['tool_call']}/approval/"
        ask_rest(stack, client.api_key, "POST", path, {"approved": True})
    elif decides == "time":
        with psycopg.connect(stack.environment["DATABASE_URL"], autocommit=True) as connection:
            connection.execute(EXPIRE)
    else:
        assert client.responses.cancel(first.id) == first

    def ended() -> Response | None:
        try:
            response = client.responses.retrieve(f"{first.id}01")
        except openai.NotFoundError:
            return None
        return response if response.status not in ("queued", "in_progress") else None

    second = until(ended)
    status = {"page": "completed", "time": "failed", "cancel": "failed"}[decides]
    assert second.output[0].to_dict()["status"] == status
    assert second.status == ("cancelled" if decides == "cancel" else "completed")
    assert client.responses.retrieve(first.id) == first
    with pytest.raises(openai.ConflictError) as refused:
        client.responses.create(input=[reply(request, approve=True)], previous_response_id=first.id)
    assert refused.value.code == "already_decided"


@pytest.mark.full
def test_workers_that_are_killed_contradict_nothing(
    stack: Stack, client: openai.OpenAI, scribe: Path
) -> None:
    stack.upstream.reply({"text": "I write. "}, write("Ebbe"), after_tools=0, times=1)
    stack.upstream.reply({"words": 30}, {"hang": True}, after_tools=1, times=1)
    stack.upstream.reply({"words": 40}, after_tools=1)
    first = ask(client)
    stack.signal("llm", signal.SIGKILL)
    stack.start("llm")
    [request] = requests_of(first)
    events = []
    answers = [reply(request, approve=True)]
    for event in client.responses.create(input=answers, previous_response_id=first.id, stream=True):
        events.append(event.to_dict())
        if event.type == "response.output_text.delta" and event.delta == "28 ":
            stack.signal("llm", signal.SIGKILL)
            stack.start("llm")
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert text_of(events) == "".join(f"{n} " for n in range(40))
    assert replayed(client, events[0]["response"]["id"]) == events
    assert client.responses.retrieve(first.id) == first
    assert scribe.read_text().count("\n") == 1


@pytest.mark.usefixtures("scribe")
def test_text_behind_calls_that_wait_is_in_the_next_response(stack: Stack, client: openai.OpenAI) -> None:
    """The model goes on writing once readers see the call."""
    call = streamed_call("tests__write", '{"text": ', '"Ebbe"}')
    stack.upstream.reply({"text": "I write. "}, *call, {"wait": "seen"}, {"text": "Soon."}, after_tools=0)
    stack.upstream.reply({"text": "Written."}, after_tools=1)
    asked = []
    for event in client.responses.create(model=MODEL, input="Write it down", stream=True):
        asked.append(event.to_dict())
        if event.type == "response.output_item.done" and event.item.type == "message":
            stack.upstream.release("seen")
    first = Response.model_validate(asked[-1]["response"])
    answers = [reply(request, approve=True) for request in requests_of(first)]
    answered = checked(client.responses.create(input=answers, previous_response_id=first.id, stream=True))
    second = Response.model_validate(answered[-1]["response"])
    assert [item.type for item in second.output] == ["mcp_call", "message"]
    assert (first.output_text, second.output_text) == ("I write. ", "Soon.\n\nWritten.")
    for has_log in (True, False):
        if not has_log:
            drop_logs(stack)
        for after in (-1, 0, 3, len(answered) - 2):
            more = {"starting_after": after} if after >= 0 else {}
            assert replayed(client, second.id, **more) == answered[after + 1 :]
        assert replayed(client, first.id) == asked


@pytest.mark.usefixtures("scribe")
def test_a_function_is_handed_over_when_the_calls_beside_it_are_decided(
    stack: Stack, client: openai.OpenAI
) -> None:
    weather = {"call": {"name": "weather", "id": "c2", "arguments": {"city": "Oslo"}}}
    stack.upstream.reply(weather, write("Ebbe"), after_tools=0, times=1)
    stack.upstream.reply({"text": "Rain, and written."}, after_tools=2)
    first = ask(client, tools=[WEATHER])
    assert [item.type for item in first.output] == ["mcp_approval_request"]
    answers = [reply(request, approve=True) for request in requests_of(first)]
    events = checked(client.responses.create(input=answers, previous_response_id=first.id, stream=True))
    second = Response.model_validate(events[-1]["response"])
    assert [item.type for item in second.output] == ["mcp_call", "function_call"]
    assert replayed(client, second.id) == events
    third = client.responses.create(input=[output("c2", "Rain")], previous_response_id=second.id)
    assert (third.output_text, third.previous_response_id) == ("Rain, and written.", second.id)
    assert [item.type for item in third.output] == ["message"]


def test_a_question_is_answered_on_the_page(stack: Stack, client: openai.OpenAI, scribe: Path) -> None:
    book = {"call": {"name": "tests__book", "id": "c1", "arguments": {"place": "Quay"}}}
    stack.upstream.reply(book, after_tools=0, times=1)
    stack.upstream.reply({"text": "Booked."}, after_tools=1)
    first = ask(client)
    answers = [reply(request, approve=True) for request in requests_of(first)]
    second = client.responses.create(input=answers, previous_response_id=first.id, background=True)
    [listed] = until(lambda: ask_rest(stack, client.api_key, "GET", "approvals/"))
    assert client.responses.retrieve(second.id).status == "in_progress"
    path = f"tool-calls/{listed['tool_call']}/approval/"
    ask_rest(stack, client.api_key, "POST", path, {"approved": True, "values": {"time": "noon"}})
    events = replayed(client, second.id)
    assert [item["type"] for item in events[-1]["response"]["output"]] == ["mcp_call", "message"]
    assert scribe.read_text() == "Quay at noon\n"
    assert replayed(client, second.id) == events
    assert client.responses.retrieve(first.id) == first


@pytest.mark.usefixtures("scribe")
def test_a_chat_waits_for_the_page(stack: Stack, client: openai.OpenAI) -> None:
    stack.upstream.reply(write("one"), after_tools=0, times=1)
    stack.upstream.reply({"text": "Written."}, after_tools=1)
    stream = client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "Write"}], stream=True
    )
    [listed] = until(lambda: ask_rest(stack, client.api_key, "GET", "approvals/"))
    ask_rest(stack, client.api_key, "POST", f"tool-calls/{listed['tool_call']}/approval/", {"approved": True})
    texts = [chunk.choices[0].delta.content or "" for chunk in stream]
    assert "".join(texts).strip() == "Written."
