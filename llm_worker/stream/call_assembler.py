"""Assembles tool calls from streamed deltas, and tolerates servers that deviate from the format. Pure.

Knows tools by name only, and does not validate arguments against their schema.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from llm_worker.request.call_ids import ID_CHARACTERS, SERVER_ID
from llm_worker.stream.arguments import parse_arguments
from llm_worker.stream.sanitiser import Sanitiser, clean
from llm_worker.upstream.deltas import NO_INDEX, ToolCallDelta

NAME_CHARACTERS: Final = 64
_NAMESPACE: Final = "functions."
# Any other id is replaced: it is sent with every later request, also to servers that accept no other characters. The
# server that gave the call another id is sent that one again (request/call_ids.py).
_OWN_ID: Final = re.compile(rf"[a-zA-Z0-9_-]{{1,{ID_CHARACTERS}}}")


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A call that a model asks for. id: unique within the step.  arguments: None if `raw` is not a JSON object.

    is_cut: the model reached its output limit before it had written all arguments.
    members: further members of the call, which its server wants back.
    """

    id: str
    name: str
    arguments: dict[str, Any] | None
    raw: str = ""
    is_cut: bool = False
    members: Mapping[str, Any] = field(default_factory=dict, compare=False)


class CallFragment(NamedTuple):
    """The part of a call that one delta added.

    begins: it is the first of this call, with everything received so far.
    """

    tab: int
    id: str
    name: str
    text: str
    begins: bool


@dataclass
class _Call:
    """A call being written. It has no tab until its name is known."""

    id: str
    upstream_id: str
    name: str = ""
    tab: int | None = None
    pieces: list[str] = field(default_factory=list)
    text: Sanitiser = field(default_factory=Sanitiser)
    members: dict[str, Any] = field(default_factory=dict)

    @property
    def raw(self) -> str:
        return "".join(self.pieces)


class CallAssembler:
    """Assembles the calls of one inference. Every call gets a unique id, whatever the server sent."""

    def __init__(self, new_id: Callable[[], str], offered: Collection[str] = ()) -> None:
        """Start without calls. `new_id`: for calls whose id is missing, taken, or not accepted by all servers.
        `offered`: the names of the tools of the request.
        """
        self._new_id = new_id
        self._offered = offered
        self._calls: list[_Call] = []
        self._by_place: dict[int, _Call] = {}
        self._named = 0

    def feed(self, delta: ToolCallDelta) -> CallFragment | None:
        """Add a delta, and return the fragment to show; None while the call has no name, or for an empty delta."""
        call = self._call_of(delta)
        arguments = call.text.clean(delta.arguments)
        call.pieces.append(arguments)
        call.name = call.name or tool_name(delta.name, self._offered)
        if delta.members:
            call.members |= delta.members
        if call.tab is None and call.name:
            call.tab, self._named = self._named, self._named + 1
            return CallFragment(call.tab, call.id, call.name, call.raw, begins=True)
        if call.tab is None or not arguments:
            return None
        return CallFragment(call.tab, call.id, call.name, arguments, begins=False)

    def calls(self) -> list[RequestedCall]:
        """Return the calls of the step by tab, after the end of the stream. A call without a name is dropped."""
        named = sorted((call for call in self._calls if call.tab is not None), key=lambda call: call.tab or 0)
        return [
            RequestedCall(call.id, call.name, parse_arguments(call.raw), call.raw, members=call.members)
            for call in named
        ]

    def _call_of(self, delta: ToolCallDelta) -> _Call:
        known = self._by_id(delta.id) if delta.place == NO_INDEX else self._by_place.get(delta.place)
        if known is None or self._begins_another(known, delta):
            known = self._new_call(delta.id)
            self._calls.append(known)
        if delta.place != NO_INDEX:
            self._by_place[delta.place] = known
        return known

    def _begins_another(self, call: _Call, delta: ToolCallDelta) -> bool:
        """Return whether a delta at the index of `call` starts another call.

        Only complete calls share an index: with another tool name, with another id, or after complete arguments. An
        id alone is no sign: some servers send a new one with every delta.
        """
        if not delta.name or not call.name:
            return False
        if tool_name(delta.name, self._offered) != call.name:
            return True
        if delta.id and delta.id != call.upstream_id:
            return True
        return bool(delta.arguments) and any(call.pieces) and parse_arguments(call.raw) is not None

    def _by_id(self, upstream_id: str) -> _Call | None:
        """Return the call of this id, else the latest one: for servers that send no indexes."""
        same = [call for call in self._calls if upstream_id and call.upstream_id == upstream_id]
        calls = same or self._calls
        return calls[-1] if calls else None

    def _new_call(self, given: str) -> _Call:
        taken = {call.id for call in self._calls}
        own = given
        while not _OWN_ID.fullmatch(own) or own in taken:
            own = self._new_id()
        is_kept = given not in ("", own) and not any(call.upstream_id == given for call in self._calls)
        members = {SERVER_ID: given} if is_kept and clean(given) == given else {}
        return _Call(own, given, members=members)


def without_cut_arguments(calls: Sequence[RequestedCall]) -> list[RequestedCall]:
    """Mark the calls that the output limit of their inference cut off; they are never taken as complete.

    A call whose arguments had not begun could be read as one without arguments.
    """
    return [
        call
        if call.raw.strip() and call.arguments is not None
        else replace(call, arguments=None, is_cut=True)
        for call in calls
    ]


def tool_name(given: str, offered: Collection[str] = ()) -> str:
    """Convert the name to OpenAI's alphabet and length, which servers accept in later requests.

    Servers of gpt-oss leave parts of its format in the name: `act<|channel|>commentary`, `functions.act`.
    """
    given = given.strip()
    given = given.partition("<|")[0].strip() or given
    name, short = _in_alphabet(given), _in_alphabet(given.removeprefix(_NAMESPACE).strip())
    return short if short in offered and name not in offered else name


def _in_alphabet(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:NAME_CHARACTERS]
