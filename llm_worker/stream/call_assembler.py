"""Assembles tool calls from streamed deltas, parses their arguments, and says what readers are shown meanwhile. Pure.

Servers may deviate from the format. The module knows tools by name only, and does not validate arguments against their schema.

Only the first call is shown early: while it is the only one, if calls of its tool are stored as they are written, and
from the second piece of its arguments on. All other calls are shown once their round is stored.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from pydantic_core import from_json

from llm_worker.request.call_ids import OWN_ID, SERVER_ID
from llm_worker.stream.sanitiser import Sanitiser, clean
from llm_worker.upstream.deltas import NO_INDEX, ToolCallDelta

# As JSON, of the members that a server wants back. Signatures take some thousand characters.
MAX_MEMBERS_CHARACTERS: Final = 256 * 1024
# Several functions that copy the members recurse at each level.
MAX_MEMBERS_DEPTH: Final = 32


def parse_arguments(raw: str) -> dict[str, Any] | None:
    """Return the JSON object in `raw`, even if it is JSON written into a JSON string; None: there is none.

    An empty text is an empty object. Characters that Postgres cannot store are replaced; infinite numbers give None.
    """
    try:
        value = _loads(raw) if raw.strip() else {}
        if isinstance(value, str):
            value = _loads(value)
        value = _storable({} if value is None else value)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parse_partial_arguments(raw: str) -> dict[str, Any]:
    """Parse as much as possible of arguments that were not completed; empty if nothing can be parsed."""
    try:
        value = _storable(from_json(raw, allow_inf_nan=False, allow_partial="trailing-strings"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def storable_members(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members as they can be stored.
    Empty if they cannot, are longer than MAX_MEMBERS_CHARACTERS, or are nested deeper than MAX_MEMBERS_DEPTH.
    """
    if not members or _is_deeper(members, MAX_MEMBERS_DEPTH):
        return {}
    encoded = json.dumps(members)
    return (parse_arguments(encoded) or {}) if len(encoded) <= MAX_MEMBERS_CHARACTERS else {}


def _loads(text: str) -> Any:
    # strict=False: models put unescaped line breaks into strings.
    return json.loads(text, strict=False, parse_constant=_refuse)


def _is_deeper(value: Any, limit: int) -> bool:
    """Return whether lists and objects are nested in more than `limit` levels."""
    if not isinstance(value, Mapping | list):
        return False
    inner = value.values() if isinstance(value, Mapping) else value
    return not limit or any(_is_deeper(each, limit - 1) for each in inner)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _storable(value: Any) -> Any:
    """Replace NUL and lone surrogates in a value. Raises ValueError for an infinite number."""
    match value:
        case str():
            return clean(value)
        case dict():
            return {_storable(key): _storable(each) for key, each in value.items()}
        case list():
            return [_storable(each) for each in value]
        case float() if math.isinf(value):
            raise ValueError("an infinite number")
        case _:
            return value


NAME_CHARACTERS: Final = 64
_NAMESPACE: Final = "functions."


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
        while not OWN_ID.fullmatch(own) or own in taken:
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


class CallPreviewer:
    """Assembles the calls of one inference, and selects the fragments to show early."""

    def __init__(
        self, new_id: Callable[[], str], previewable: Collection[str], offered: Collection[str] = ()
    ) -> None:
        """Start without calls. `previewable`: the names of tools whose calls may be shown before they are complete.
        `offered`: those of all tools of the request.
        """
        self._assembler = CallAssembler(new_id, offered)
        self._previewable = previewable
        self.has_new_deltas = False  # since the latest next_fragment()
        self._first: CallFragment | None = None
        self._unshown = ""  # of the first call's arguments
        self._pieces = 0  # the number of pieces in which they came
        self._are_several = False
        self._is_shown = False

    def feed(self, delta: ToolCallDelta) -> None:
        self.has_new_deltas = True
        fragment = self._assembler.feed(delta)
        if fragment is None:
            return
        if fragment.tab:
            self._are_several = True
            return
        self._first = self._first or fragment
        self._unshown += fragment.text
        self._pieces += bool(fragment.text)

    def next_fragment(self) -> CallFragment | None:
        """Return the fragment to show now, or None. A call that has been shown in part is shown to its end."""
        self.has_new_deltas = False
        first, text = self._first, self._unshown
        if first is None or not text or not (self._is_shown or self._may_begin(first)):
            return None
        fragment = CallFragment(first.tab, first.id, first.name, text, begins=not self._is_shown)
        self._is_shown, self._unshown = True, ""
        return fragment

    def calls(self) -> list[RequestedCall]:
        """Return the calls, as CallAssembler.calls does."""
        return self._assembler.calls()

    def _may_begin(self, first: CallFragment) -> bool:
        # Arguments in one piece are not being written, and often a second call follows. Arguments that do not begin
        # like an object are JSON inside a string, or cannot be parsed.
        is_alone = not self._are_several and first.name in self._previewable
        return is_alone and self._pieces > 1 and self._unshown.lstrip().startswith("{")
