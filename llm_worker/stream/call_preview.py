"""The tool calls of one inference while the model writes them, and what readers may be shown of them. Pure.

Only the first call is shown early: while it is the only one, if calls of its tool are stored as they are written, and
from the second piece of its arguments on. All other calls are shown once their round is stored.
"""

from collections.abc import Callable, Collection

from llm_worker.stream.call_assembler import CallAssembler, CallFragment, RequestedCall
from llm_worker.upstream.deltas import ToolCallDelta


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
