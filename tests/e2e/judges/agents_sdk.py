"""OpenAI's Agents SDK, by responses and by chat completions."""

import asyncio

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from openai.types.responses import ResponseTextDeltaEvent
from pydantic import BaseModel

ANSWER = "Two tides a day."
PICTURE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@function_tool
def tide(port: str) -> str:
    """The next high tide."""
    return f"18:40 in {port}"


class Hour(BaseModel):
    hour: int


async def judge(kind: type, client: AsyncOpenAI) -> None:
    model = kind("alpha", client)
    plain, acting = (
        Agent("plain", instructions="Be brief.", model=model),
        Agent("acting", model=model, tools=[tide]),
    )
    assert (await Runner.run(plain, "TEXT")).final_output == ANSWER
    streamed = Runner.run_streamed(plain, "TEXT")
    pieces = [
        event.data.delta
        async for event in streamed.stream_events()
        if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent)
    ]
    assert "".join(pieces) == streamed.final_output == ANSWER
    acted = await Runner.run(acting, "FUNCTION")
    assert acted.final_output == ANSWER
    assert "ToolCallOutputItem" in [type(item).__name__ for item in acted.new_items]
    again = [*acted.to_input_list(), {"role": "user", "content": "TEXT"}]
    assert (await Runner.run(acting, again)).final_output == ANSWER
    streamed = Runner.run_streamed(acting, "FUNCTION")
    assert [event async for event in streamed.stream_events()]
    assert streamed.final_output == ANSWER
    assert (await Runner.run(Agent("typed", model=model, output_type=Hour), "OBJECT")).final_output == Hour(
        hour=18
    )
    handing = Agent("handing", model=model, handoffs=[Agent("other", model=model)])
    assert (await Runner.run(handing, "HANDOFF")).last_agent.name == "other"
    memory = SQLiteSession(kind.__name__)
    for question in ("FUNCTION", "TEXT"):
        assert (await Runner.run(acting, question, session=memory)).final_output == ANSWER


async def judge_responses(client: AsyncOpenAI) -> None:
    acting = Agent("acting", model=OpenAIResponsesModel("alpha", client), tools=[tide])
    first = await Runner.run(acting, "TEXT", auto_previous_response_id=True)
    name = first.last_response_id
    second = await Runner.run(acting, "FUNCTION", previous_response_id=name, auto_previous_response_id=True)
    assert second.final_output == ANSWER
    seeing = Agent("seeing", model=OpenAIResponsesModel("sighted", client))
    parts = [
        {"type": "input_text", "text": "TEXT"},
        {"type": "input_image", "image_url": PICTURE, "detail": "auto"},
    ]
    assert (await Runner.run(seeing, [{"role": "user", "content": parts}])).final_output == f"{ANSWER} 1"


async def main() -> None:
    set_tracing_disabled(True)
    async with AsyncOpenAI(max_retries=0) as client:
        for kind in (OpenAIResponsesModel, OpenAIChatCompletionsModel):
            await judge(kind, client)
        await judge_responses(client)


asyncio.run(main())
