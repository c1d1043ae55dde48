"""The calls of one cycle as they will be stored and replayed, decided before any of them runs. Pure.

A call that cannot be carried out is answered with one sentence, so that the model may try something else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry

from chat.transcript.entries import Document
from llm_worker.stream.call_assembler import RequestedCall
from llm_worker.tools.tool import Tool

# More is a model gone astray: each call is a row, a task and two messages of every later request.
MAX_CALLS = 32
LONGEST_COMPLAINT = 300

# Those of chat.models.ToolCallStatus that a call ends with here.
ResultStatus = Literal["completed", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a call came to. documents: with their numbers, as the response shows them.

    duration_ms: how long it ran; None: it did not.
    """

    status: ResultStatus
    response: str
    documents: tuple[Document, ...] = ()
    duration_ms: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call of a round; its place in the round is its tab.

    tool: None if there is none of this name.  result: decided before it could run, or by an earlier attempt.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]
    tool: Tool | None
    result: CallResult | None = None


def plan_calls(asked: Sequence[RequestedCall], tools: Sequence[Tool]) -> list[PlannedCall]:
    """The round in tab order. tools: those offered in this cycle.

    Searches of one tool are merged into the first of them, if it can: that is the call which is stored.
    """
    by_name = {tool.name: tool for tool in tools}
    calls = [_planned(one, by_name) for one in asked]
    for tool in tools:
        if tool.merges:
            calls = _merged(calls, tool)
    return calls[:MAX_CALLS] + [
        _refused(call, f"Not run: one step may make at most {MAX_CALLS} calls.") for call in calls[MAX_CALLS:]
    ]


def no_such_tool(name: str) -> CallResult:
    return CallResult("failed", f"There is no tool named {name}.")


def plan_after_loss(call: PlannedCall) -> PlannedCall:
    """A call that an earlier attempt began and whose outcome was lost: it may run again only if that does no harm."""
    if call.result or (call.tool and call.tool.is_idempotent):
        return call
    sentence = f"The outcome of this call of {call.name} was lost: it may or may not have taken effect."
    return replace(call, result=CallResult("unknown", sentence))


def _planned(asked: RequestedCall, by_name: Mapping[str, Tool]) -> PlannedCall:
    name, tool = asked.name, by_name.get(asked.name)
    call = PlannedCall(asked.id, name, asked.arguments or {}, tool)
    if tool is None:
        return replace(call, result=no_such_tool(name))
    if asked.arguments is None:
        return _refused(call, f"{name} was not run: its arguments were not a JSON object.")
    if complaint := _complaint(tool, asked.arguments):
        return _refused(call, f"{name} was not run: {complaint}")
    return call


def _refused(call: PlannedCall, sentence: str) -> PlannedCall:
    return replace(call, result=call.result or CallResult("failed", sentence))


def _complaint(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """What the tool's schema has against the arguments, as the end of a sentence; empty if nothing."""
    # An empty registry: no schema makes the validator fetch another one.
    validator = Draft202012Validator(dict(tool.parameters), registry=Registry())
    error = best_match(validator.iter_errors(dict(arguments)))
    if error is None:
        return ""
    where = f"its argument {error.json_path.removeprefix('$.')}" if error.path else "its arguments"
    return f"{where} did not match the schema ({error.message[:LONGEST_COMPLAINT]})."


def _merged(calls: list[PlannedCall], tool: Tool) -> list[PlannedCall]:
    alike = [tab for tab, call in enumerate(calls) if call.tool is tool and call.result is None]
    arguments = tool.merge([calls[tab].arguments for tab in alike]) if len(alike) > 1 else None
    if arguments is None:
        return calls
    calls[alike[0]] = replace(calls[alike[0]], arguments=arguments)
    return [call for tab, call in enumerate(calls) if tab not in alike[1:]]
