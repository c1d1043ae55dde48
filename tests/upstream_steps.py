"""Matches requests to rules and encodes the steps of the scripted upstream, which tests/upstream.py lists. Pure."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

Step = dict[str, Any]


@dataclass
class Rule:
    """Steps and the requests they answer; None matches every request.

    times: how often the rule applies.  stream: whether it is for streaming requests.  after_tools: the number of tool
    responses since the question.
    """

    steps: list[Step] | Callable[[dict[str, Any]], list[Step]]
    model: str | None = None
    contains: str | None = None
    times: int | None = None
    stream: bool = True
    after_tools: int | None = None

    def takes(self, body: dict[str, Any]) -> bool:
        return (
            self.times != 0
            and self.stream == bool(body.get("stream"))
            and self.model in (None, body.get("model"))
            and (self.contains is None or self.contains in last_user_text(body))
            and self.after_tools in (None, tool_responses(body))
        )

    def take(self, body: dict[str, Any]) -> list[Step]:
        if self.times is not None:
            self.times -= 1
        return self.steps(body) if callable(self.steps) else self.steps


def last_user_text(body: dict[str, Any]) -> str:
    """The question: the last user message with a date, which reminders lack; if there is none, the last user message."""
    return _text(body["messages"][_question(body)]) if _question(body) >= 0 else ""


def tool_responses(body: dict[str, Any]) -> int:
    """The number of tool responses since the question."""
    return sum(message["role"] == "tool" for message in body["messages"][_question(body) + 1 :])


def _question(body: dict[str, Any]) -> int:
    """The index of the question among the messages; -1 if there is none."""
    users = [at for at, message in enumerate(body.get("messages", [])) if message["role"] == "user"]
    dated = [at for at in users if "<sent_at>" in _text(body["messages"][at])]
    return (dated or users or [-1])[-1]


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def numbered(steps: list[Step]) -> list[Step]:
    """The same steps, with an index added to each `call`."""
    places = count()
    return [{"call": {"index": next(places), **step["call"]}} if "call" in step else step for step in steps]


def pieces(step: Step, body: dict[str, Any]) -> Iterator[bytes]:
    match step:
        case {"text": text}:
            yield delta(body, {"content": text})
        case {"reasoning": text}:
            yield delta(body, {step.get("field", "reasoning_content"): text})
        case {"delta": given}:
            yield delta(body, given)
        case {"call": call}:
            yield from (delta(body, {"tool_calls": [part]}) for part in _call(call, body))
        case {"refusal": text}:
            yield delta(body, {"refusal": text}, finish="content_filter")
        case {"ending": steps}:
            yield from _ending(steps, body)
        case _:
            yield from _unframed(step)


def whole(steps: list[Step], body: dict[str, Any]) -> bytes:
    """The body of the response to a request that does not stream."""
    if raw := [step["raw"] for step in steps if "raw" in step]:
        return "".join(raw).encode("utf-8", "surrogatepass")
    said: dict[str, Any] = {"role": "assistant", "content": "".join(step.get("text", "") for step in steps)}
    said["refusal"] = next((step["refusal"] for step in steps if "refusal" in step), None)
    otherwise = "tool_calls" if any("call" in step for step in steps) else "stop"
    finish = next((step["finish"] for step in steps if "finish" in step), otherwise)
    usage = next(
        (step["usage"] for step in steps if "usage" in step), {"prompt_tokens": 7, "completion_tokens": 1}
    )
    choices = [{"index": 0, "message": said, "finish_reason": finish}]
    head = _head(body) | {"object": "chat.completion"}
    return json.dumps(head | {"choices": choices, "usage": usage}).encode()


def _unframed(step: Step) -> Iterator[bytes]:
    match step:
        case {"chunk": chunk}:
            yield _data(chunk)
        case {"raw": bytes() as sent}:
            yield sent
        case {"raw": characters}:
            yield characters.encode("utf-8", "surrogatepass")
        case {"long_line": length}:
            yield b"data: " + b"x" * length + b"\n\n"


def _call(call: dict[str, Any], body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The deltas of a call as real servers send them: id and name, then the arguments; with `pieces` 0 a single delta."""
    given = call.get("arguments", {})
    arguments = given if isinstance(given, str) else json.dumps(given)
    place = {} if call["index"] is None else {"index": call["index"]}
    # Ids differ between the requests of a turn and are the same when a request is repeated.
    own_id = call.get("id", f"call_{len(body['messages'])}_{call['index']}")
    begin = {**place, "type": "function", **({"id": own_id} if own_id else {})}
    pieces = call.get("pieces", 2)
    yield {**begin, "function": {"name": call["name"], "arguments": "" if pieces else arguments}}
    size = -(-len(arguments) // pieces) if pieces else 0
    for start in range(0, len(arguments) if size else 0, size or 1):
        yield {**place, "function": {"arguments": arguments[start : start + size]}}


def _ending(steps: list[Step], body: dict[str, Any]) -> Iterator[bytes]:
    """Finish reason, usage and [DONE], unless the steps say otherwise."""
    otherwise = "tool_calls" if any("call" in step for step in steps) else "stop"
    finish = next((step["finish"] for step in steps if "finish" in step), otherwise)
    if finish is None:
        return
    if not any("refusal" in step for step in steps):
        yield delta(body, {}, finish=finish)
    if body.get("stream_options", {}).get("include_usage"):
        words = sum(step.get("words", 1) for step in steps if "text" in step or "words" in step)
        counted = {"prompt_tokens": 7, "completion_tokens": words, "total_tokens": 7 + words}
        usage = next((step["usage"] for step in steps if "usage" in step), counted)
        yield _data({**_head(body), "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _head(body: dict[str, Any]) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}


def delta(body: dict[str, Any], delta: dict[str, Any], finish: str | None = None) -> bytes:
    return _data({**_head(body), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _data(value: Any) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()
