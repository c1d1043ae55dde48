"""LangChain's chat model, by chat completions and by responses."""

from functools import reduce
from operator import add

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

ANSWER = "Two tides a day."
PICTURE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CALLS = [{"name": "tide", "args": {"port": "Brest"}, "id": "call_1", "type": "tool_call"}]


class Hour(BaseModel):
    """An hour."""

    hour: int


@tool
def tide(port: str) -> str:
    """The next high tide."""
    return f"18:40 in {port}"


def judge(**form: bool) -> None:
    model = ChatOpenAI(model="alpha", max_retries=0, **form)
    acting = model.bind_tools([tide])
    answer = model.invoke([SystemMessage("Be brief."), HumanMessage("TEXT")])
    assert answer.text == ANSWER
    assert answer.usage_metadata["output_tokens"]
    assert "".join(piece.text for piece in model.stream("TEXT")) == ANSWER
    messages = [HumanMessage("FUNCTION")]
    called = acting.invoke(messages)
    assert called.tool_calls == CALLS
    messages += [called, *(tide.invoke(call) for call in called.tool_calls)]
    acted = acting.invoke(messages)
    assert acted.text == ANSWER
    assert acting.invoke([*messages, acted, HumanMessage("TEXT")]).text == ANSWER
    assert reduce(add, acting.stream("FUNCTION")).tool_calls == CALLS
    assert model.bind_tools([tide], tool_choice="tide").invoke("FUNCTION").tool_calls == CALLS
    asked = {"json_schema": "OBJECT", "json_mode": "OBJECT in JSON", "function_calling": "OBJECT BY A TOOL"}
    for method, question in asked.items():
        assert model.with_structured_output(Hour, method=method).invoke(question) == Hour(hour=18)
    picture = {"type": "image_url", "image_url": {"url": PICTURE}}
    seeing = ChatOpenAI(model="sighted", max_retries=0, **form)
    content = [{"type": "text", "text": "TEXT"}, picture]
    assert seeing.invoke([HumanMessage(content)]).text == f"{ANSWER} 1"


for form in ({}, {"use_responses_api": True}, {"use_previous_response_id": True}):
    judge(**form)
