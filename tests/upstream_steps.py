"""What the scripted upstream sends for each step of a reply (tests/upstream.py lists them). Pure."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Step = dict[str, Any]


@dataclass
class Rule:
    """Which requests get these steps. times: how often; None: always."""

    steps: list[Step] | Callable[[dict[str, Any]], list[Step]]
    model: str | None = None
    contains: str | None = None
    times: int | None = None

    def takes(self, body: dict[str, Any]) -> bool:
        return (
            self.times != 0
            and self.model in (None, body.get("model"))
            and (self.contains is None or self.contains in last_user_text(body))
        )

    def take(self, body: dict[str, Any]) -> list[Step]:
        if self.times is not None:
            self.times -= 1
        return self.steps(body) if callable(self.steps) else self.steps


def last_user_text(body: dict[str, Any]) -> str:
    texts = [message["content"] for message in body.get("messages", []) if message["role"] == "user"]
    return texts[-1] if texts else ""


def pieces(step: Step, body: dict[str, Any]) -> Iterator[bytes]:
    match step:
        case {"text": text}:
            yield delta(body, {"content": text})
        case {"reasoning": text}:
            yield delta(body, {step.get("field", "reasoning_content"): text})
        case {"delta": given}:
            yield delta(body, given)
        case {"refusal": text}:
            yield delta(body, {"refusal": text}, finish="content_filter")
        case {"ending": steps}:
            yield from _ending(steps, body)
        case _:
            yield from _unframed(step)


def _unframed(step: Step) -> Iterator[bytes]:
    match step:
        case {"chunk": chunk}:
            yield _data(chunk)
        case {"raw": characters}:
            yield characters.encode("utf-8", "surrogatepass")
        case {"long_line": length}:
            yield b"data: " + b"x" * length + b"\n\n"


def _ending(steps: list[Step], body: dict[str, Any]) -> Iterator[bytes]:
    """Finish reason, usage and [DONE], unless the steps say otherwise."""
    finish = next((step["finish"] for step in steps if "finish" in step), "stop")
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
