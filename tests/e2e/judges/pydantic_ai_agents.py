"""Pydantic AI, by responses and by chat completions."""

import asyncio
from base64 import b64decode

from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel

ANSWER = "Two tides a day."
PICTURE = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Hour(BaseModel):
    hour: int


async def judge(kind: type) -> None:
    model = kind("alpha")
    plain, acting = Agent(model, instructions="Be brief."), Agent(model)

    @acting.tool_plain
    def tide(port: str) -> str:
        """The next high tide."""
        return f"18:40 in {port}"

    first = await plain.run("TEXT")
    assert first.output == ANSWER
    assert first.usage.output_tokens
    async with plain.run_stream("TEXT") as streamed:
        assert "".join([text async for text in streamed.stream_text(delta=True)]) == ANSWER
    assert (await plain.run("TEXT", message_history=first.all_messages())).output == ANSWER
    acted = await acting.run("FUNCTION")
    assert acted.output == ANSWER
    assert (await acting.run("TEXT", message_history=acted.all_messages())).output == ANSWER
    async with acting.run_stream("FUNCTION") as streamed:
        assert await streamed.get_output() == ANSWER
    assert (await Agent(model, output_type=NativeOutput(Hour)).run("OBJECT")).output == Hour(hour=18)
    assert (await Agent(model, output_type=Hour).run("OBJECT BY A TOOL")).output == Hour(hour=18)
    seen = await Agent(kind("sighted")).run(["TEXT", BinaryContent(PICTURE, media_type="image/png")])
    assert seen.output == f"{ANSWER} 1"


async def main() -> None:
    for kind in (OpenAIResponsesModel, OpenAIChatModel):
        await judge(kind)


asyncio.run(main())
