"""LiteLLM, by chat completions and by responses."""

import litellm

ANSWER = "Two tides a day."
SCHEMA = {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]}
TOOLS = [{"type": "function", "function": {"name": "tide", "description": "The tide.", "parameters": SCHEMA}}]
litellm.telemetry = False


def complete(messages: list, **more: object) -> object:
    return litellm.completion("openai/alpha", messages, **more)


question = [{"role": "user", "content": "TEXT"}]
assert complete(question).choices[0].message.content == ANSWER
streamed = complete(question, stream=True, stream_options={"include_usage": True})
pieces = [chunk.choices[0].delta.content or "" for chunk in streamed if chunk.choices]
assert "".join(pieces) == ANSWER
asked = [{"role": "user", "content": "FUNCTION"}]
called = complete(asked, tools=TOOLS).choices[0].message
outputs = [{"role": "tool", "tool_call_id": call.id, "content": "18:40"} for call in called.tool_calls]
assert complete([*asked, called, *outputs], tools=TOOLS).choices[0].message.content == ANSWER
response = litellm.responses(model="openai/alpha", input="TEXT")
assert response.output[-1].content[0].text == ANSWER
events = [event.type for event in litellm.responses(model="openai/alpha", input="TEXT", stream=True)]
assert events[0] == "response.created"
assert events[-1] == "response.completed"
