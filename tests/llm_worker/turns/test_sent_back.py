"""What a server wants back with a round goes back to it, in the turn and later, and to nobody else."""

import json

import pytest

from chat.models import ModelConfig, SentRequest, ToolCall
from chat.protocol.states import Status
from tests import factories
from tests.llm_worker.outcomes import ended

CALL = {"call": {"name": "current_time", "arguments": {}}}
SIGNATURE = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
# As OpenRouter streams a block of Claude, and as it wants it back.
PIECE = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0}
PIECES = [PIECE | {"text": "Let"}, PIECE | {"text": " me compute"}, PIECE | {"signature": "s1g"}]
BLOCK = PIECE | {"text": "Let me compute", "signature": "s1g"}


@pytest.fixture
def session(agent_session):
    return agent_session(tools=["current_time"])


@pytest.fixture
def answered(ask, deliver, upstream, session):
    """Answer one question, with a call first if steps are given; returns the messages of the last request."""

    def answered(*steps, model="scripted"):
        upstream.rules.clear()
        if steps:
            upstream.reply(*steps, times=1)
        upstream.reply({"text": "Noon."})
        [run] = ask("When?", model, session=session)
        deliver(run).result(60)
        ended(run, Status.COMPLETED)
        return upstream.requests[-1].messages

    return answered


def calling(messages):
    """The messages with calls."""
    return [message for message in messages if message.get("tool_calls")]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_before_a_call_goes_back_under_its_name_and_later_too(answered, name):
    [sent] = calling(answered({"reasoning": "I need the time", "field": name}, CALL))
    assert sent[name] == "I need the time"
    [later] = calling(answered())
    assert later[name] == "I need the time"
    [elsewhere] = calling(answered(model="another"))
    assert name not in elsewhere
    # The same name at another server is another model.
    ModelConfig.objects.filter(name="scripted").update(upstream_name="renamed")
    [renamed] = calling(answered())
    assert name not in renamed


def test_members_of_a_call_and_of_the_message_go_back_unchanged(answered):
    call = {"index": 0, "id": "a", "type": "function", "extra_content": SIGNATURE}
    call["function"] = {"name": "current_time", "arguments": "{}"}
    pieces = [{"delta": {"content": "", "reasoning": "hm", "reasoning_details": [one]}} for one in PIECES]
    messages = answered(*pieces, {"delta": {"tool_calls": [call]}}, {"finish": "tool_calls"})
    [sent] = calling(messages)
    assert sent["tool_calls"][0]["extra_content"] == SIGNATURE
    assert (sent["reasoning"], sent["reasoning_details"]) == ("hm" * 3, [BLOCK])
    [later] = calling(answered())
    assert later == sent
    [elsewhere] = calling(answered(model="another"))
    assert set(elsewhere) == {"role", "content", "tool_calls"}
    assert set(elsewhere["tool_calls"][0]) == {"id", "type", "function"}


def test_pieces_that_an_earlier_version_stored_go_back_whole(answered):
    steps = [{"delta": {"content": "", "reasoning": "hm", "reasoning_details": [one]}} for one in PIECES]
    answered(*steps, CALL)
    call = ToolCall.objects.get()
    call.sent_back["members"] = {"reasoning_details": PIECES}
    call.save()
    [later] = calling(answered())
    assert later["reasoning_details"] == [BLOCK]


def thinking(text, **more):
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}], **more}


def test_thinking_parts_go_back_as_parts_before_the_text(answered):
    parts = [
        [thinking("I need ")],
        [thinking("the time", closed=True)],
        [{"type": "text", "text": "Let me see. "}],
    ]
    [sent] = calling(answered(*({"delta": {"content": content}} for content in parts), CALL))
    whole = thinking("I need the time", closed=True)
    assert sent["content"] == [whole, {"type": "text", "text": "Let me see. "}]
    assert "reasoning_content" not in sent
    [later] = calling(answered())
    assert later == sent
    [elsewhere] = calling(answered(model="another"))
    assert elsewhere["content"] == "Let me see. "


def test_thinking_parts_go_back_without_a_text_and_with_their_signatures(answered):
    block = {"type": "thinking", "thinking": "hm", "signature": "s1g"}
    [sent] = calling(answered({"delta": {"content": [block]}}, {"delta": {"content": [block]}}, CALL))
    assert sent["content"] == [block, block]
    assert "reasoning_content" not in sent


def test_members_that_are_nested_very_deep_are_left_out(answered):
    deep = {}
    for _ in range(480):
        deep = {"a": deep}
    call = {"index": 0, "id": "a", "function": {"name": "current_time", "arguments": "{}"}}
    [sent] = calling(
        answered({"delta": {"tool_calls": [call | {"extra_content": deep}]}}, {"finish": "tool_calls"})
    )
    assert set(sent["tool_calls"][0]) == {"id", "type", "function"}


def test_what_is_sent_back_is_neither_shown_nor_exported_nor_kept(answered, session):
    call = {
        "index": 0,
        "id": "a",
        "extra_content": SIGNATURE,
        "function": {"name": "current_time", "arguments": "{}"},
    }
    answered({"delta": {"tool_calls": [call]}}, {"finish": "tool_calls"})
    assert ToolCall.objects.get().sent_back["calls"] == {"a": {"extra_content": SIGNATURE}}
    client = factories.api_client(session.owner)
    run = ToolCall.objects.get().run
    paths = [f"sessions/{session.pk}/messages/", f"sessions/{session.pk}/export/", f"runs/{run.pk}/packets/"]
    shown = [client.get(f"/api/{path}") for path in paths]
    for response in shown:
        assert response.status_code == 200
        said = b"".join(response.streaming_content) if response.streaming else response.content
        assert b"c2lnbmF0dXJl" not in said
    assert "c2lnbmF0dXJl" not in json.dumps(list(SentRequest.objects.values()), default=str)
