"""Hypothesis strategies for valid session files: any tree that the rules allow."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

STARTED_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
ENDED = ["completed", "failed", "stopped"]


def isoformat(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


@st.composite
def call(draw: Any, depth: int = 1) -> dict[str, Any]:
    """A tool call without its position."""
    made = {
        "tool_call_id": draw(TEXT),
        "name": "web_search",
        "arguments": draw(st.dictionaries(TEXT, st.one_of(TEXT, st.integers(-9, 9), st.none()), max_size=2)),
        "response": draw(TEXT),
        "status": draw(st.sampled_from(["completed", "failed", "refused", "unknown"])),
        "documents": [
            {
                "number": number,
                "document_id": f"d{number}",
                "title": draw(TEXT),
                "url": "https://one.example/",
            }
            for number in range(1, draw(st.integers(1, 3)))
        ],
        "text_before": draw(TEXT),
        "reasoning": draw(TEXT),
        "report": draw(TEXT),
        "structured": draw(st.sampled_from([None, {}, {"sum": 3, "parts": [{"a": None}]}])),
        "duration_ms": draw(st.one_of(st.none(), st.integers(0, 9999))),
    }
    children = draw(st.lists(call(depth=depth - 1), max_size=2)) if depth else []
    return made | {"children": with_positions(children)}


def with_positions(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one | {"turn_number": index // 2, "tab_index": index % 2} for index, one in enumerate(calls)]


@st.composite
def run(draw: Any, turn: int, started_at: datetime) -> dict[str, Any]:
    status = draw(st.sampled_from(ENDED))
    error = {"code": "upstream_timeout", "message": draw(TEXT), "retryable": draw(st.booleans())}
    return {
        "model": draw(st.sampled_from(["quick", "deep"])),
        "turn": turn,
        "status": status,
        "created_at": isoformat(started_at),
        "ended_at": isoformat(started_at + timedelta(seconds=draw(st.integers(0, 99)))),
        **({"error": error} if status == "failed" else {}),
        "usage": draw(
            st.fixed_dictionaries({}, optional={"prompt_tokens": st.integers(0, 9), "cost": st.just("0.25")})
        ),
        "cycles": draw(st.integers(0, 6)),
    }


@st.composite
def sessions(draw: Any) -> dict[str, Any]:
    """A valid file."""
    messages: list[dict[str, Any]] = [{"id": 0, "role": "root", "sent_at": isoformat(STARTED_AT)}]
    turns: dict[int, int] = {}
    for _ in range(draw(st.integers(0, 12))):
        parent = draw(st.sampled_from([one for one in messages if one["role"] != "summary"]))
        messages.append(draw(message(len(messages), parent, turns)))
    for parent in [one for one in messages if one["role"] == "user" and one["parent"]]:
        if draw(st.booleans()):
            messages.append(summary(len(messages), parent))
    for one in messages:
        replies = [m["id"] for m in messages if m.get("parent") == one["id"] and m["role"] != "summary"]
        if replies and draw(st.booleans()):
            one["latest_child"] = draw(st.sampled_from(replies))
    mode = draw(st.sampled_from(["reject", "enqueue", "interrupt"]))
    head = {"format": "turnwire.session", "version": 2, "title": draw(TEXT), "while_answering": mode}
    return head | {"messages": in_order(messages)}


@st.composite
def message(draw: Any, number: int, parent: dict[str, Any], turns: dict[int, int]) -> dict[str, Any]:
    moment = STARTED_AT + timedelta(seconds=number)
    role = "assistant" if parent["role"] == "user" else "user"
    made = {
        "id": number,
        "role": role,
        "sent_at": isoformat(moment),
        "parent": parent["id"],
        "text": draw(TEXT),
    }
    if role == "user":
        kinds = draw(st.lists(st.sampled_from(["text", "image"]), max_size=2))
        return made | {"files": [{"name": f"{index}.txt", "kind": kind} for index, kind in enumerate(kinds)]}
    turn = turns[parent["id"]] = turns.get(parent["id"], -1) + 1
    return made | {
        "reasoning": draw(TEXT),
        "tool_calls": with_positions(draw(st.lists(call(), max_size=3))),
        "citations": [{"number": number, "document_id": "d"} for number in range(1, draw(st.integers(1, 3)))],
        "run": draw(run(turn, moment)),
        **draw(st.sampled_from([{}, {"feedback": {"is_positive": True}}, {"feedback": {"text": "No."}}])),
    }


def summary(number: int, parent: dict[str, Any]) -> dict[str, Any]:
    """A summary of everything above its parent."""
    moment = STARTED_AT + timedelta(seconds=number)
    made = {"id": number, "role": "summary", "sent_at": isoformat(moment), "text": "Before."}
    return made | {"parent": parent["id"], "last_summarized_message": parent["parent"]}


def in_order(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Numbered as in an export: depth first, siblings oldest first."""
    order: list[int] = []
    waiting = [0]
    while waiting:
        order.append(waiting.pop())
        waiting += [one["id"] for one in reversed(messages) if one.get("parent") == order[-1]]
    numbers = {old: new for new, old in enumerate(order)}
    pointers = ("id", "parent", "latest_child", "last_summarized_message")
    return [
        {name: numbers[value] if name in pointers else value for name, value in messages[old].items()}
        for old in order
    ]
