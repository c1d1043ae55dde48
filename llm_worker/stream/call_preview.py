"""The tool calls of one inference while the model writes them, and what of them readers may be shown by now. Pure.

Shown is what is certain when it begins: the first call, as long as it is the only one and its tool's calls stay as
they are written; from the second piece of its arguments on. Everything else is shown when the inference is over and its round is stored.
"""

from collections.abc import Callable, Collection

from llm_worker.stream.call_assembler import CallAssembler, CallFragment, RequestedCall
from llm_worker.upstream.deltas import ToolCallDelta


class CallPreviewer:
    def __init__(self, new_id: Callable[[], str], watchable: Collection[str]) -> None:
        """watchable: the names of tools whose calls may be shown before they are whole."""
        self._assembler = CallAssembler(new_id)
        self._watchable = watchable
        self.has_new_deltas = False  # since the last news
        self._first: CallFragment | None = None
        self._untold = ""  # of the first call's arguments
        self._pieces = 0  # that they came in
        self._are_several = False
        self._is_shown = False

    def take(self, delta: ToolCallDelta) -> None:
        self.has_new_deltas = True
        piece = self._assembler.take(delta)
        if piece is None:
            return
        if piece.tab:
            self._are_several = True
            return
        self._first = self._first or piece
        self._untold += piece.text
        self._pieces += bool(piece.text)

    def news(self) -> CallFragment | None:
        """What readers are to be shown now; once a call has begun to be shown, all of it is."""
        self.has_new_deltas = False
        first, text = self._first, self._untold
        if first is None or not text or not (self._is_shown or self._may_begin(first)):
            return None
        piece = CallFragment(first.tab, first.id, first.name, text, begins=not self._is_shown)
        self._is_shown, self._untold = True, ""
        return piece

    def calls(self) -> list[RequestedCall]:
        """As CallAssembler.calls."""
        return self._assembler.calls()

    def _may_begin(self, first: CallFragment) -> bool:
        # What comes in one piece is not being written, and often has a second call behind it. What does not begin like
        # an object is JSON in a string, or nothing that could be parsed.
        is_lone = not self._are_several and first.name in self._watchable
        return is_lone and self._pieces > 1 and self._untold.lstrip().startswith("{")
