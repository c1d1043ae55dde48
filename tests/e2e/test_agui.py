"""A frontend that speaks AG-UI runs agents over real processes: texts, its own functions, approvals, lost connections, dead workers."""

import json
import signal
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx2
import psycopg
import pytest

from tests.agui_frontend import apply, check
from tests.stack import Stack

pytestmark = pytest.mark.e2e
WEATHER = {
    "name": "weather",
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


class Frontend:
    """A frontend with one thread. messages: as AG-UI's client would have them, of the events alone."""

    def __init__(self, stack: Stack, name: str = "alice") -> None:
        self.token = stack.create_token(name)
        headers = {"Authorization": f"Bearer {self.token}"}
        self.http = httpx2.Client(base_url=stack.base_url, headers=headers, timeout=60, trust_env=False)
        self.thread = str(uuid4())
        self.messages: list[dict[str, Any]] = []

    def ask(self, text: str, **more: Any) -> list[dict[str, Any]]:
        self.messages.append({"id": str(uuid4()), "role": "user", "content": text})
        return self.run(**more)

    def run(self, run: str = "", **more: Any) -> list[dict[str, Any]]:
        """Return the events of a run, each valid and in order; `messages` has what they make."""
        return [*self.stream(run, **more)]

    def stream(self, run: str = "", model: str = "alpha", **more: Any) -> Iterator[dict[str, Any]]:
        body = self.body(run or str(uuid4()), **more)
        events = []
        with self.http.stream("POST", "/agui", params={"model": model} if model else {}, json=body) as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["content-type"] == "text/event-stream"
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    events.append(json.loads(line[6:]))
                    apply(self.messages, events[-1:])
                    yield events[-1]
        check(events)
        for event in (events[0], events[-1]):
            if event["type"] != "RUN_ERROR":
                assert (event["threadId"], event["runId"]) == (self.thread, body["runId"])

    def body(self, run: str, **more: Any) -> dict[str, Any]:
        return {"threadId": self.thread, "runId": run, "messages": self.messages, "tools": [], **more}

    @property
    def texts(self) -> list[str]:
        return [message.get("content", "") for message in self.messages if message["role"] == "assistant"]


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def told(stack: Stack, *roles: str) -> list[str]:
    """What the latest request for an answer told the model of the conversation: the texts of these roles."""
    requests = [request for request in stack.upstream.requests if request.body.get("stream")]
    messages = [message for message in requests[-1].messages if message["role"] in roles]
    texts = [message["content"] for message in messages if message.get("content")]
    return [text.split("\n\n<sent_at>")[0] for text in texts if not text.startswith("<")]


@pytest.fixture
def frontend(stack: Stack) -> Iterator[Frontend]:
    frontend = Frontend(stack)
    yield frontend
    frontend.http.close()


def test_a_thread_of_any_id_is_a_chat_that_goes_on(stack: Stack, frontend: Frontend) -> None:
    stack.upstream.reply(
        {"reasoning": "Two bulges."}, {"text": "The Moon "}, {"text": "pulls."}, contains="tides"
    )
    events = frontend.ask("Why two tides?", context=[{"description": "Port", "value": "Brest"}])
    assert (kinds(events)[:3], kinds(events)[-2:]) == (
        ["RUN_STARTED", "REASONING_START", "REASONING_MESSAGE_START"],
        ["TEXT_MESSAGE_END", "RUN_FINISHED"],
    )
    assert events[-1]["outcome"] == {"type": "success"}
    [usage] = events[-1]["usage"]
    assert usage["totalTokens"] == usage["inputTokens"] + usage["outputTokens"]
    assert [message["content"] for message in frontend.messages[1:]] == ["Two bulges.", "The Moon pulls."]
    assert "Port: Brest" in json.dumps(stack.upstream.requests[-1].body["messages"])

    stack.upstream.reply({"text": "A little."}, contains="the Sun")
    frontend.messages.insert(0, {"id": "s", "role": "system", "content": "Answer like a sailor."})
    frontend.ask("And the Sun?")
    assert told(stack, "user", "assistant")[-3:] == ["Why two tides?", "The Moon pulls.", "And the Sun?"]
    assert "Answer like a sailor." in json.dumps(stack.upstream.requests[-1].body["messages"])
    chats = frontend.http.get("/api/sessions/", headers={"Authorization": f"Token {frontend.token}"}).json()[
        "results"
    ]
    assert sum(chat["id"] == events[0]["metadata"]["turnwire"]["session"] for chat in chats) == 1

    # Whoever goes back to a question gets another answer, and to an answer another question: a branch of the tree.
    question = next(
        place for place, message in enumerate(frontend.messages) if message.get("content") == "And the Sun?"
    )
    stack.upstream.reply({"text": "Half as much."}, contains="the Sun")
    frontend.messages = frontend.messages[: question + 1]
    stack.upstream.requests.clear()
    frontend.run()
    assert told(stack, "user")[-1] == "And the Sun?"
    frontend.messages = frontend.messages[:question]
    frontend.ask("And Mars?")
    assert told(stack, "user", "assistant")[-3:] == ["Why two tides?", "The Moon pulls.", "And Mars?"]


def check_page_without_messages(stack: Stack, frontend: Frontend, run: str) -> None:
    """Check that a page that knows but the names gets the calls and outputs of the thread as well, and goes on."""
    page = Frontend(stack)
    page.thread = frontend.thread
    page.run(run)
    for role in ("user", "assistant", "tool"):
        texts = [
            [message.get("content", "") for message in messages if message["role"] == role]
            for messages in (page.messages, frontend.messages)
        ]
        assert texts[0] == texts[1]
    assert [message["role"] for message in page.messages if message["role"] != "reasoning"] == [
        message["role"] for message in frontend.messages if message["role"] != "reasoning"
    ]
    before = told(stack, "tool")
    page.ask("And tomorrow?")
    assert (told(stack, "tool"), page.texts[-1]) == (before, "Sun.")
    page.http.close()


def test_a_frontend_carries_out_its_functions_between_two_runs(stack: Stack, frontend: Frontend) -> None:
    stack.upstream.reply(
        {"text": "I look."},
        {"call": {"name": "weather", "id": "c1", "arguments": {"city": "Oslo"}}},
        {"call": {"name": "weather", "id": "c2", "arguments": {"city": "Kyiv"}}},
        after_tools=0,
        times=1,
    )
    stack.upstream.reply({"text": "Rain in Oslo."}, after_tools=2)
    events = frontend.ask("Rain in Oslo and Kyiv?", tools=[WEATHER])
    pending = events[-1]["outcome"]["pendingToolCallIds"]
    [answer] = [message for message in frontend.messages if message.get("toolCalls")]
    assert (answer["content"], [call["id"] for call in answer["toolCalls"]]) == ("I look.", pending)
    assert [json.loads(call["function"]["arguments"])["city"] for call in answer["toolCalls"]] == [
        "Oslo",
        "Kyiv",
    ]
    for call, weather in zip(pending, ("Rain", "Sun"), strict=True):
        frontend.messages.append({"id": str(uuid4()), "role": "tool", "toolCallId": call, "content": weather})
    run = str(uuid4())
    events = frontend.run(run, tools=[WEATHER])
    assert told(stack, "tool") == ["Rain", "Sun"]
    assert frontend.texts[-1] == "Rain in Oslo."
    asked = len(stack.upstream.requests)
    # The same request again asks nobody.
    assert kinds(frontend.run(run, tools=[WEATHER])) == ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
    assert len(stack.upstream.requests) == asked
    assert frontend.texts[-1] == "Rain in Oslo."
    stack.upstream.reply({"text": "Sun."}, contains="tomorrow")
    check_page_without_messages(stack, frontend, run)


def test_outputs_may_come_with_the_next_question(stack: Stack, frontend: Frontend) -> None:
    """A function that draws something has nobody wait for its output."""
    stack.upstream.reply(
        {"call": {"name": "weather", "id": "c1", "arguments": {"city": "Oslo"}}}, contains="Draw"
    )
    [call] = frontend.ask("Draw it", tools=[WEATHER])[-1]["outcome"]["pendingToolCallIds"]
    frontend.messages.append({"id": "t1", "role": "tool", "toolCallId": call, "content": "drawn"})
    stack.upstream.reply({"text": "You are welcome."}, contains="Thanks")
    events = frontend.ask("Thanks", tools=[WEATHER])
    assert told(stack, "tool") == ["drawn"]
    assert frontend.texts[-1] == "You are welcome."
    stack.upstream.reply({"text": "Sun."}, contains="tomorrow")
    check_page_without_messages(stack, frontend, events[0]["runId"])


def test_a_lost_connection_stops_nothing_and_the_same_request_joins_again(
    stack: Stack, frontend: Frontend
) -> None:
    stack.upstream.reply({"words": 5}, {"wait": "go"}, {"words": 30, "every_s": 0.01}, contains="Count")
    run, seen = str(uuid4()), []
    frontend.messages.append({"id": str(uuid4()), "role": "user", "content": "Count"})
    for event in frontend.stream(run):
        seen.append(event)
        if event["type"] == "TEXT_MESSAGE_CONTENT":
            break
    # Another page of the same user knows but the names.
    page = Frontend(stack)
    page.thread = frontend.thread
    events: list[dict[str, Any]] = []
    for event in page.stream(run):
        events.append(event)
        stack.upstream.release("go")
    assert kinds(events)[:3] == ["RUN_STARTED", "MESSAGES_SNAPSHOT", "TEXT_MESSAGE_START"]
    assert events[-1]["type"] == "RUN_FINISHED"
    assert [message["role"] for message in page.messages] == ["user", "assistant"]
    frontend.run(run)
    assert page.texts == frontend.texts
    assert len([request for request in stack.upstream.requests if "Count" in str(request.body)]) == 1
    other = Frontend(stack, "bob")
    other.thread = frontend.thread
    assert other.http.post("/agui", json=other.body(run)).status_code == 400
    page.http.close()
    other.http.close()


def test_an_answer_survives_its_worker(stack: Stack, frontend: Frontend) -> None:
    stack.upstream.reply({"words": 5}, {"wait": "never"}, contains="Count", times=1)
    stack.upstream.reply({"words": 12}, contains="Count")
    frontend.messages.append({"id": str(uuid4()), "role": "user", "content": "Count"})
    events: list[dict[str, Any]] = []
    for event in frontend.stream():
        if event["type"] == "TEXT_MESSAGE_CONTENT" and not events:
            events.append(event)
            stack.signal("llm", signal.SIGKILL)
            stack.start("llm")
    assert frontend.texts == ["".join(f"{n} " for n in range(12))]


@pytest.fixture
def asking(stack: Stack, frontend: Frontend) -> Iterator[str]:
    """An agent whose clock the admin has made a matter of approval, as a model."""
    name = f"Clock {uuid4().hex}"
    agent = {"name": name, "prompt": "Be brief.", "tools": ["current_time"]}
    headers = {"Authorization": f"Token {frontend.token}"}
    frontend.http.post("/api/agents/", json=agent, headers=headers).raise_for_status()
    with psycopg.connect(stack.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("INSERT INTO chat_toolpolicy (name, approval) VALUES ('current_time', 'ask')")
        yield f"agent/{name.lower()}"
        connection.execute("DELETE FROM chat_toolpolicy")


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        ({"status": "resolved", "payload": {"approved": True}}, "Asia/Tokyo"),
        (
            {"status": "resolved", "payload": {"approved": True, "editedArgs": {"timezone": "Europe/Oslo"}}},
            "Europe/Oslo",
        ),
        ({"status": "cancelled"}, "refused"),
    ],
    ids=["approved", "edited", "cancelled"],
)
def test_a_call_that_needs_approval_interrupts_the_run(
    stack: Stack, frontend: Frontend, asking: str, answer: dict[str, Any], response: str
) -> None:
    clock = {"name": "current_time", "arguments": {"timezone": "Asia/Tokyo"}}
    stack.upstream.reply({"call": clock}, after_tools=0, contains="Tokyo")
    stack.upstream.reply({"text": "Late."}, after_tools=1, contains="Tokyo")
    first = frontend.ask("How late is it in Tokyo?", model=asking)
    [interrupt] = first[-1]["outcome"]["interrupts"]
    [call] = [call for message in frontend.messages for call in message.get("toolCalls", ())]
    assert (interrupt["reason"], interrupt["toolCallId"]) == ("tool_call", call["id"])
    assert (
        interrupt["metadata"]["arguments"] == json.loads(call["function"]["arguments"]) == clock["arguments"]
    )
    # A run that waits is not asked on, and does not end as a success.
    joined = frontend.run(first[0]["runId"])
    assert joined[-1]["outcome"]["interrupts"] == [interrupt]
    refused = frontend.http.post(
        "/agui", json=frontend.body("r3", resume=[{"interruptId": "x", "status": "cancelled"}])
    )
    assert refused.status_code == 400

    resume = [{"interruptId": interrupt["id"], **answer}]
    events = frontend.run("second", resume=resume)
    assert events[-1]["outcome"] == {"type": "success"}
    assert frontend.texts[-1] == "Late."
    [result] = [message for message in frontend.messages if message["role"] == "tool"]
    assert (result["toolCallId"], response in result["content"]) == (call["id"], True), result
    # The same answer again joins.
    assert kinds(frontend.run("second", resume=resume)) == [
        "RUN_STARTED",
        "MESSAGES_SNAPSHOT",
        "RUN_FINISHED",
    ]
