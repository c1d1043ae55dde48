"""Which of a model's calls run, and which response the others get."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from chat.transcript.entries import Document
from chat.transcript.tools import READ_ONLY, Annotations
from llm_worker.loop.calls import MAX_CALLS, CallResult, PlannedCall, plan_after_loss, plan_calls
from llm_worker.stream.call_assembler import RequestedCall
from llm_worker.tools.tool import ToolContext, ToolResult

pytestmark = pytest.mark.pure


@dataclass
class Stub:
    """A tool that would do nothing."""

    name: str = "look"
    searches: bool = False
    merges: bool = False
    annotations: Annotations = READ_ONLY
    description: str = ""
    guidance: str = ""
    time_limit_s: float | None = None

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {
            "type": "object",
            "properties": {"for": {"type": "string"}, "most": {"type": "integer", "minimum": 1}},
            "required": ["for"],
        }

    def is_available(self) -> bool:
        return True

    def merge(self, arguments: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        return {"for": "+".join(one["for"] for one in arguments)} if self.merges else None

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:
        return ToolResult()


LOOK = Stub()
SEARCH = Stub("search", searches=True, merges=True)
BROWSE = Stub("browse", searches=True, merges=True)
AGENT = Stub("agent", searches=True)
TOOLS = (LOOK, SEARCH, BROWSE, AGENT)


def asked(word: str) -> RequestedCall:
    """`id:name:for`; a broken one ends in `!`."""
    call_id, name, text = word.split(":")
    arguments = None if text.endswith("!") else {"for": text}
    return RequestedCall(call_id, name, arguments, text)


@pytest.mark.parametrize(
    ("wanted", "round_"),
    [
        pytest.param("1:look:a", "1:look:a", id="one call"),
        pytest.param("1:look:a 2:look:b", "1:look:a 2:look:b", id="what does not search stays several"),
        pytest.param("1:search:a 2:search:b", "1:search:a+b", id="searches of one tool are one"),
        pytest.param(
            "1:search:a 2:browse:b 3:search:c", "1:search:a+c 2:browse:b", id="at the place of the first"
        ),
        pytest.param(
            "1:look:a 2:search:b 3:look:c 4:search:d", "1:look:a 2:search:b+d 3:look:c", id="others between"
        ),
        pytest.param("1:agent:a 2:agent:b", "1:agent:a 2:agent:b", id="unless the tool cannot merge"),
        pytest.param(
            "1:search:! 2:search:b 3:search:c", "1:search:FAILED 2:search:b+c", id="a broken one stays apart"
        ),
        pytest.param(
            "1:nothing:a 2:look:b", "1:nothing:FAILED 2:look:b", id="an unknown one keeps its place"
        ),
    ],
)
def test_calls_are_planned_in_order_and_merged_per_tool(wanted: str, round_: str) -> None:
    calls = plan_calls([asked(word) for word in wanted.split()], TOOLS)
    assert (
        " ".join(f"{c.id}:{c.name}:{'FAILED' if c.result else c.arguments['for']}" for c in calls) == round_
    )


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("nothing", {"for": "a"}, "There is no tool named nothing."),
        ("nothing", None, "There is no tool named nothing."),
        ("look", None, "look was not run: its arguments were not a JSON object."),
        (
            "look",
            {},
            "look was not run: its arguments did not match the schema ('for' is a required property).",
        ),
        (
            "look",
            {"for": 3},
            "look was not run: its argument for did not match the schema (3 is not of type 'string').",
        ),
        (
            "look",
            {"for": "a", "most": 0},
            "look was not run: its argument most did not match the schema (0 is less than the minimum of 1).",
        ),
    ],
)
def test_a_call_that_cannot_run_gets_an_error_response(
    name: str, arguments: dict[str, Any] | None, sentence: str
) -> None:
    [call] = plan_calls([RequestedCall("1", name, arguments, "")], TOOLS)
    assert call.result == CallResult("failed", sentence)


def test_a_schema_error_is_truncated() -> None:
    [call] = plan_calls([RequestedCall("1", "look", {"for": ["long"] * 10_000}, "")], TOOLS)
    assert call.result
    assert len(call.result.response) < 500


def test_the_calls_of_one_step_are_limited() -> None:
    calls = plan_calls([asked(f"{number}:look:a") for number in range(MAX_CALLS + 2)], TOOLS)
    assert [call.result for call in calls[:MAX_CALLS]] == [None] * MAX_CALLS
    refused = CallResult("failed", f"Not run: one step may make at most {MAX_CALLS} calls.")
    assert [call.result for call in calls[MAX_CALLS:]] == [refused, refused]


FOUND = CallResult("completed", "There.", (Document(3, "d", "t"),))


@pytest.mark.parametrize(
    ("tool", "result", "expected"),
    [
        pytest.param(LOOK, None, None, id="what only reads runs again"),
        pytest.param(LOOK, FOUND, FOUND, id="what has ended does not"),
        pytest.param(
            Stub("pay", annotations=Annotations()),
            None,
            CallResult(
                "unknown", "The outcome of this call of pay was lost: it may or may not have taken effect."
            ),
            id="what changes something does not",
        ),
        pytest.param(
            None,
            None,
            CallResult(
                "unknown", "The outcome of this call of pay was lost: it may or may not have taken effect."
            ),
            id="nor what is not there any more",
        ),
    ],
)
def test_a_call_without_a_result_runs_again_only_if_its_tool_allows_it(
    tool: Stub | None, result: CallResult | None, expected: CallResult | None
) -> None:
    call = PlannedCall("1", tool.name if tool else "pay", {}, tool, result)
    assert plan_after_loss(call).result == expected


def test_a_call_runs_with_arguments_as_its_tool_wants_them() -> None:
    [call] = plan_calls([RequestedCall("1", "look", {"for": "tides", "most": "5"}, "")], TOOLS)
    assert (call.result, call.arguments) == (None, {"for": "tides", "most": 5})
    [refused] = plan_calls([RequestedCall("1", "look", {"for": "tides", "most": "five"}, "")], TOOLS)
    assert refused.result
    assert "most" in refused.result.response
