"""Where the packets of a run may stand: the blocks a careful client opens and closes, and what it refuses.

Blocks follow each other, each under the next index; only calls of one round are open side by side, each in its tab.
What happens inside an agent's call stands between its start and its end, counted by sub_turn_index.
"""

from dataclasses import dataclass, field
from typing import Any

Frame = dict[str, Any]
Key = tuple[int, int]  # index and tab

BEGINS = {"reasoning_start": "reasoning", "message_start": "message", "report_start": "report"}
GOES_ON = {
    "reasoning_delta": "reasoning",
    "message_delta": "message",
    "citation_info": "message",
    "report_delta": "report",
}
ONLY_OUTSIDE = {"run_start", "message_start", "message_delta", "citation_info", "top_level_branching", "stop"}
OF_CALLS = {"tool_arguments_delta", "tool_arguments", "tool_output", "approval_required"}


class Misplaced(AssertionError):
    """A packet that may not stand where it stands."""


@dataclass
class Call:
    id: str
    name: str
    said: set[str] = field(default_factory=set)
    inside: "Screen | None" = None


@dataclass
class Screen:
    """is_inside: of an agent's call.  text, calls: what is open.  announced: how many parallel calls, and where."""

    is_inside: bool = False
    highest: int = -1
    text: tuple[int, str] | None = None
    calls: dict[Key, Call] = field(default_factory=dict)
    announced: tuple[int, int] | None = None
    cited: set[int] = field(default_factory=set)
    has_started: bool = False

    def packet(self, frame: Frame) -> None:
        place, obj = frame["placement"], frame["obj"]
        sub = place["sub_turn_index"]
        if sub is None:
            self._take(place["turn_index"], place["tab_index"], obj)
        else:
            call = self.calls.get((place["turn_index"], place["tab_index"]))
            _require(call is not None and "tool_output" not in call.said, frame, "inside no open call")
            assert call is not None
            call.inside = call.inside or Screen(is_inside=True, has_started=True)
            call.inside._take(sub, 0, obj)

    def _take(self, index: int, tab: int, obj: Frame) -> None:
        kind = obj["type"]
        _require(not (self.is_inside and kind in ONLY_OUTSIDE), obj, "inside a call")
        _require(self.has_started != (kind == "run_start"), obj, "run_start comes first, once")
        self.has_started = True
        if kind in BEGINS:
            self._begin(index, obj)
            self.text = (index, BEGINS[kind])
        elif kind in GOES_ON:
            _require(self.text == (index, GOES_ON[kind]), obj, f"of {self.text} at {index}")
            self._cite(obj)
        elif kind == "top_level_branching":
            self._announce(index, obj)
        elif kind == "tool_start":
            self._start(index, tab, obj)
        elif kind in OF_CALLS:
            self._of_call(index, tab, obj)
        elif kind in ("reasoning_done", "section_end"):
            self._end(index, tab, obj)
        elif kind in ("error", "stop"):
            _require(self.text is None and not self.calls, obj, f"open: {self.text} {self.calls}")

    def _begin(self, index: int, obj: Frame) -> None:
        _require(self.text is None and not self.calls, obj, f"open: {self.text} {self.calls}")
        _require(index == self.highest + 1, obj, f"at {index} after {self.highest}")
        self.highest = index

    def _announce(self, index: int, obj: Frame) -> None:
        """Parallel calls: before the first, or before the second, where the first was shown while it was being written."""
        is_announced = self.announced is not None and self.announced[0] == index
        has_begun = list(self.calls) == [(index, 0)] and not is_announced
        _require(not has_begun or not self.calls[index, 0].said - {"tool_arguments_delta"}, obj, "too late")
        if not has_begun:
            self._begin(index, obj)
        self.announced = (index, obj["count"])

    def _start(self, index: int, tab: int, obj: Frame) -> None:
        _require(self.text is None, obj, f"open: {self.text}")
        width = self.announced[1] if self.announced and self.announced[0] == index else 1
        if self.is_inside and self.calls:
            # Parallel calls in there have an index of their own.
            _require(index == self.highest + 1, obj, f"at {index} after {self.highest}")
            self.highest = index
        elif width == 1:
            self._begin(index, obj)
        _require(index == self.highest, obj, f"at {index} after {self.highest}")
        _require((index, tab) not in self.calls and tab < width, obj, f"tab {tab} of {width}")
        self.calls[index, tab] = Call(obj["tool_call_id"], obj["name"])

    def _of_call(self, index: int, tab: int, obj: Frame) -> None:
        call = self.calls.get((index, tab))
        _require(
            call is not None and call.id == obj["tool_call_id"], obj, f"of no open call at {index}.{tab}"
        )
        assert call is not None
        kind = obj["type"]
        _require(kind == "tool_arguments_delta" or kind not in call.said, obj, "twice")
        _require(kind != "tool_output" or "tool_arguments" in call.said, obj, "before its arguments")
        _require(kind != "tool_output" or _is_closed(call.inside), obj, "while something inside is open")
        call.said.add(kind)

    def _end(self, index: int, tab: int, obj: Frame) -> None:
        if call_id := obj.get("tool_call_id"):
            call = self.calls.pop((index, tab), None)
            _require(call is not None and call.id == call_id, obj, f"of no open call at {index}.{tab}")
            assert call is not None
            _require(_is_closed(call.inside), obj, "while something inside is open")
        else:
            ended = (
                "reasoning" if obj["type"] == "reasoning_done" else "report" if self.is_inside else "message"
            )
            _require(self.text == (index, ended), obj, f"of {self.text} at {index}")
            self.text = None

    def _cite(self, obj: Frame) -> None:
        if obj["type"] == "citation_info":
            _require(obj["number"] not in self.cited, obj, "told twice")
            self.cited.add(obj["number"])


def _is_closed(inside: Screen | None) -> bool:
    return inside is None or (inside.text is None and not inside.calls)


def _require(holds: bool, what: Frame, why: str) -> None:
    if not holds:
        raise Misplaced(f"{what} stands wrong: {why}")
