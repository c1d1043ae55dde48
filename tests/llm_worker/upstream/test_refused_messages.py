"""A server that refuses the form of the messages is sent another one, at once and from then on."""

from dataclasses import replace

import pytest

from chat.transcript.entries import Call
from llm_worker.request.model_message import Message
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.llm import LanguageModels
from llm_worker.upstream.model_request import Model, Request

ASKED = [Message("S", "Be brief."), Message("U", "It rains."), Message("U", "Why?")]
CALLED = Message("TC", "", calls=(Call("call_1", "act", {}),))
AFTER_TOOL = [
    Message("U", "Why?"), CALLED, Message("TR", "Done.", tool_call_id="call_1"), Message("U", "And then?")
]  # fmt: skip
LLAMA = "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/..."


class Memory:
    """Keeps what it is asked to store."""

    def __init__(self):
        self.traits = []

    async def remember(self, _model, traits):
        self.traits += sorted(traits)

    async def note_redirect(self, _model, _target):
        pass


@pytest.fixture
def memory():
    return Memory()


@pytest.fixture
async def models(memory):
    models = LanguageModels(connections=10, silence_s=3, first_retry_s=0.001, memory=memory)
    yield models
    await models.close()


async def roles_sent(models, upstream, messages, *, is_streamed=True):
    """Ask once; returns the roles of each request that was sent for it."""
    received = upstream.requests if is_streamed else upstream.asides
    before = len(received)
    request = Request(Model("scripted", upstream.base_url), messages)
    if is_streamed:
        async for _ in models.stream(request):
            pass
    else:
        await models.complete(request)
    return [" ".join(one["role"][0] for one in each.messages) for each in received[before:]]


def refusal(status, said, code=None):
    return {"status": status, "body": {"object": "error", "message": said, "code": code}}


@pytest.mark.parametrize(
    ("step", "messages", "roles"),
    [
        pytest.param(refusal(500, LLAMA), ASKED, ["s u u", "s u"], id="llama.cpp"),
        pytest.param(refusal(400, LLAMA), ASKED, ["s u u", "s u"], id="vLLM"),
        pytest.param(
            refusal(400, "Unexpected role 'user' after role 'tool'", "3230"),
            AFTER_TOOL,
            ["u a t u", "u a t a u"],
            id="Mistral",
        ),
        pytest.param(
            refusal(500, "System role not supported at row 1, column 45"), ASKED, ["s u u", "u u"], id="Gemma"
        ),
    ],
)
@pytest.mark.parametrize("is_streamed", [True, False])
async def test_roles_that_a_template_refuses_are_sent_in_another_form_from_then_on(
    models, upstream, step, messages, roles, is_streamed
):
    upstream.reply(step, times=1, stream=is_streamed)
    upstream.reply({"text": "Because."}, stream=is_streamed)
    assert await roles_sent(models, upstream, messages, is_streamed=is_streamed) == roles
    assert await roles_sent(models, upstream, messages, is_streamed=is_streamed) == roles[1:]


async def test_the_order_of_roles_is_stored_with_what_else_was_learned(models, upstream, memory):
    upstream.reply(refusal(400, LLAMA), times=1)
    upstream.reply(refusal(400, "stream_options is not supported"), times=1)
    assert await roles_sent(models, upstream, ASKED) == ["s u u", "s u", "s u"]
    assert sorted(memory.traits) == ["alternating_roles", "no_stream_options"]


@pytest.mark.parametrize(
    ("step", "messages", "requests"),
    [
        pytest.param(refusal(500, "CUDA error"), ASKED, 3, id="an outage is asked again"),
        pytest.param(refusal(500, LLAMA), ASKED, 2, id="refused again"),
        pytest.param(refusal(500, LLAMA), ASKED[:2], 1, id="nothing to join"),
    ],
)
async def test_a_server_that_stays_with_its_refusal_is_not_asked_for_ever(
    models, upstream, step, messages, requests
):
    upstream.reply(step)
    with pytest.raises(ModelFailed):
        await roles_sent(models, upstream, messages)
    assert len(upstream.requests) == requests
    assert {" ".join(one["role"] for one in each.messages) for each in upstream.requests} == (
        {"system user user", "system user"} if requests == 2 else {" ".join(one.role for one in messages)}
    )


@pytest.mark.parametrize(
    "said",
    [
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 7",
        "Missing `reasoning_content` field in the assistant message at message index 2",
    ],
)
async def test_a_server_that_misses_reasoning_gets_it_in_each_answer_from_then_on(models, upstream, said):
    upstream.reply(refusal(400, said, "invalid_request_error"), times=1)
    upstream.reply({"text": "Noon."})
    own = {"reasoning_content": "I need the time"}
    elsewhere = {"reasoning": "Under another name"}
    messages = [
        Message("U", "Why?"), Message("A", "Because."), Message("U", "When?"),
        replace(CALLED, members=own), Message("TR", "Done.", tool_call_id="call_1"),
        replace(CALLED, members=elsewhere), Message("TR", "Done.", tool_call_id="call_1"),
    ]  # fmt: skip
    assert len(await roles_sent(models, upstream, messages)) == 2
    refused, accepted = (
        [one for one in received.messages if one["role"] == "assistant"] for received in upstream.requests
    )
    assert [one.get("reasoning_content") for one in refused] == [None, "I need the time", None]
    reasoning = [" ", "I need the time", "Under another name"]
    assert [one["reasoning_content"] for one in accepted] == reasoning
    assert len(await roles_sent(models, upstream, messages)) == 1
    others = [one for one in upstream.requests[1].messages if one["role"] != "assistant"]
    assert (len(others), [one for one in others if "reasoning_content" in one]) == (4, [])


async def test_reasoning_that_is_missed_in_a_first_question_is_not_made_up(models, upstream):
    upstream.reply(refusal(400, "reasoning_content is missing"))
    with pytest.raises(ModelFailed):
        await roles_sent(models, upstream, ASKED)
    assert len(upstream.requests) == 1


async def test_the_column_of_the_model_spares_the_refusal(models, upstream):
    model = replace(Model("scripted", upstream.base_url), requires_alternating_roles=True)
    async for _ in models.stream(Request(model, ASKED)):
        pass
    assert [one["role"] for one in upstream.requests[0].messages] == ["system", "user"]
