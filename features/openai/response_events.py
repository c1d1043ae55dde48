"""Converts the packets of a run to the events of OpenAI's Responses API. Pure.

Numbers, ids and types of events follow from the content of the packets, not from their number: a text is shown in pieces
that its characters decide, and parallel calls one after the other. So the packets that were streamed, those that are
rebuilt after the log has expired, and those of an attempt that shows the same again have the same events.

Where a run waits for approvals, a response ends and another one begins: each is a part of the run. The calls that wait
belong to the next one, which is their answer.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count, takewhile
from typing import Any, Final, NamedTuple
from uuid import UUID

from chat.protocol import wire as p
from chat.transcript.citations import citation_link
from chat.transcript.entries import Document
from chat.transcript.packets import HANDED_OVER, Placed
from chat.transcript.waits import Wait
from features.openai.part_ends import find_ends, find_late, name_part, name_request
from features.openai.response_items import MESSAGE, REASONING, Call, Form, Text, request_item

Event = dict[str, Any]

# Where a text is cut follows from what stands before: after white space, or after this many other characters.
_PIECE: Final = re.compile(r"\S{0,11}\s|\S{12}")
# The number of events before the first item.
_BEGINNING: Final = 2


class ResponseEnd(NamedTuple):
    """How a response ended. members: of the final response."""

    status: str
    members: Mapping[str, Any] = {}


class First(NamedTuple):
    """What is shown first, behind what the caller told: its turn_index, and the number of rounds before it."""

    block: int = 0
    round: int = 0


FROM_THE_FIRST: Final = First()


class ResponseEvents:
    """The events of one part of a run, from the packets of one attempt. Its methods yield those that follow, in order.

    response: the members that the response has from its beginning.  output: the items that are done.
    functions: the names of the caller's tools.  part: from 0.
    """

    def __init__(
        self,
        run: UUID,
        response: Mapping[str, Any],
        functions: Collection[str] = frozenset(),
        first: First = FROM_THE_FIRST,
        part: int = 0,
    ) -> None:
        self._run = run.hex
        self._functions = functions
        self._first_block = first.block
        self._response = response
        self._part = part
        self._at = 0  # the part of what is shown now
        self._waits: Sequence[Wait] = ()
        self._ends: Sequence[Wait] = ()
        self.count = 0
        self.output: list[dict[str, Any]] = []
        self._has_text = False
        self._text: Text | None = None
        self._calls: dict[int, Call] = {}  # of the open round, by tab
        self._requests: dict[int, str] = {}  # the items that asked about them, by tab
        self._round: int | None = None  # its turn_index
        self._round_number = first.round - 1
        self._after_round: list[Placed] = []  # what was written after calls that wait

    @property
    def is_over(self) -> bool:
        """Whether the part has ended, though the run has not."""
        return self._at > self._part

    def set_waits(self, waits: Sequence[Wait]) -> None:
        """Note the waits of the run, as far as they are known; those of a round, before the arguments of its calls are shown."""
        self._waits, self._ends = waits, find_ends(waits)

    def begin(self) -> Iterator[Event]:
        response = {**self._response, "status": "in_progress"}
        yield self._event("response.created", response=response)
        yield self._event("response.in_progress", response=response)

    def show(self, placement: p.Placement, obj: p.AnyPacketBody) -> Iterator[Event]:
        """Yield the events of a packet. What happens inside an agent's call is not shown."""
        if placement.sub_turn_index is None and placement.turn_index >= self._first_block:
            yield from self._of_part(self._show(placement, obj))

    def end(self, ended: ResponseEnd) -> Iterator[Event]:
        """Yield what ends the response, unless it has ended before the run."""
        yield from self._of_part(self._end(ended))

    def break_off(self) -> Iterator[Event]:
        """Yield what ends the part where the run waits, without the outcome of what it shows as running."""
        yield from self._of_part(self._break_off())

    def _of_part(self, events: Iterator[Event]) -> Iterator[Event]:
        """Yield the events of this part among those that follow."""
        while not self.is_over and (event := next(events, None)):
            if self._at == self._part:
                yield event

    def _show(self, placement: p.Placement, obj: p.AnyPacketBody) -> Iterator[Event]:
        match obj:
            case (
                p.ToolStart()
                | p.ToolArgumentsDelta()
                | p.ToolArguments()
                | p.ApprovalRequired()
                | p.ToolOutput()
                | p.SectionEnd(tool_call_id=str())
            ):
                yield from self._show_call(placement, obj)
            case _ if self._round is not None and any(call.status is None for call in self._calls.values()):
                # Written while they wait. An attempt ends the text before them again.
                if placement.turn_index > self._round:
                    self._after_round.append((placement, obj))
            case p.ReasoningStart() | p.ReasoningDelta():
                yield from self._write(REASONING, getattr(obj, "text", ""))
            case p.MessageStart() | p.MessageDelta():
                yield from self._write(MESSAGE, getattr(obj, "text", ""))
            case p.CitationInfo():
                yield from self._write(MESSAGE, "")
                yield from self._annotate(obj)
            case p.ReasoningDone() | p.SectionEnd():
                yield from self._close()

    def _close(self) -> Iterator[Event]:
        yield from self._close_text()
        for call in self._calls.values():
            call.status = call.status or ("refused" if call.is_asking else "unknown")
            call.is_stored, call.is_asking = True, False
        # A tab without a call is left out.
        yield from self._show_calls_of(self._in_order(self._calls))
        self._calls.clear()
        self._requests.clear()

    def _end(self, ended: ResponseEnd) -> Iterator[Event]:
        if ended.status in ("completed", "incomplete"):
            # The log may have lost that they were handed over.
            for call in self._calls.values():
                if call.name in self._functions:
                    call.status = call.status or HANDED_OVER
        yield from self._close_round()
        kind = ended.status if ended.status in ("completed", "failed") else "incomplete"
        final = {**self._response, "status": ended.status, "output": [*self.output], **ended.members}
        yield self._event(f"response.{kind}", response=final)

    def _break_off(self) -> Iterator[Event]:
        yield from self._close_text()
        for call in self._calls.values():
            if call.id and not call.is_done:
                call.status = "unknown"
                yield from self._show_outcome(call)
        yield from self._end_part(self._ends[self._at])

    def _event(self, kind: str, **members: Any) -> Event:
        self.count += 1
        return {"type": kind, "sequence_number": self.count - 1, **members}

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}_{name_part(self._run, self._at)}{len(self.output):04x}"

    def _done(self, item: dict[str, Any]) -> Event:
        event = self._event("response.output_item.done", output_index=len(self.output), item=item)
        self.output.append(item)
        return event

    # Texts

    def _write(self, form: Form, text: str) -> Iterator[Event]:
        """Yield the pieces that are complete with this text. A text goes on where a snapshot left it."""
        if form is MESSAGE and not self._has_text:
            if self._first_block or self._at:
                # Line ends that part it from the text before the rounds of the caller, or in the part before.
                text = text.lstrip("\n")
            self._has_text = bool(text)
        if self._text is None or self._text.form is not form:
            yield from self._close()
            self._text = opened = Text(form, self._new_id(form.prefix))
            item = opened.item("in_progress")
            yield self._event("response.output_item.added", output_index=len(self.output), item=item)
            yield self._of_text(f"{form.part_event}.added", part=opened.part(""))
        block = self._text
        block.text += text
        unshown = block.unshown + text
        end = 0
        for piece in _PIECE.finditer(unshown):
            end = piece.end()
            yield self._of_text(f"{form.text_event}.delta", delta=piece[0], **form.more)
        block.unshown = unshown[end:]

    def _of_text(self, kind: str, **members: Any) -> Event:
        """Build an event of the open text."""
        block = self._text
        if block is None:
            raise ValueError("no text is open")
        index = {"item_id": block.id, "output_index": len(self.output), block.form.index_name: 0}
        return self._event(kind, **index, **members)

    def _annotate(self, cited: p.CitationInfo) -> Iterator[Event]:
        """Yield the annotation of a link that begins where the text ends now."""
        block = self._text
        if block is None:
            return
        start = len(block.text)
        link = citation_link(Document(cited.number, cited.document_id, cited.title, url=cited.url or ""))
        if cited.url:
            place = {"start_index": start, "end_index": start + len(link)}
            annotation = {"type": "url_citation", "url": cited.url, "title": cited.title, **place}
        else:
            annotation = {
                "type": "file_citation",
                "file_id": cited.document_id,
                "filename": cited.title,
                "index": start,
            }
        block.annotations.append(annotation)
        yield self._of_text(
            "response.output_text.annotation.added",
            annotation_index=len(block.annotations) - 1,
            annotation=annotation,
        )

    def _close_text(self) -> Iterator[Event]:
        block = self._text
        if block is None:
            return
        form = block.form
        if block.unshown:
            yield self._of_text(f"{form.text_event}.delta", delta=block.unshown, **form.more)
        yield self._of_text(f"{form.text_event}.done", text=block.text, **form.more)
        part = block.part(block.text)
        yield self._of_text(f"{form.part_event}.done", part=part)
        self._text = None
        yield self._done(block.item("completed", part))

    # Calls

    def _show_call(self, placement: p.Placement, obj: p.AnyPacketBody) -> Iterator[Event]:
        tab = placement.tab_index
        if isinstance(obj, p.ToolStart):
            if placement.turn_index == self._round:
                yield from self._close_text()
            else:
                yield from self._close_round()
                self._round = placement.turn_index
                self._round_number += 1
            call = self._calls.setdefault(tab, Call(obj.name, obj.tool_call_id))
            # An attempt shows again the calls of a round that it resumes.
            call.is_stored, call.is_asking, call.written = False, False, ""
        elif tab in self._calls:
            self._note(self._calls[tab], obj)
        yield from self._show_calls()
        if all(call.is_done for call in self._calls.values()):
            yield from self._show_after_round()

    def _note(self, call: Call, obj: p.AnyPacketBody) -> None:
        match obj:
            case p.ToolArgumentsDelta():
                call.written += obj.text
            case p.ToolArguments():
                # Of the caller's calls, what is too long for a packet is in those before it.
                is_written = bool(obj.ref) and call.name in self._functions
                call.arguments = json.loads(call.written) if is_written else obj.arguments
                call.is_stored = True
            case p.ApprovalRequired():
                call.is_asking = True
            case p.ToolOutput():
                # Of documents, only readers of their bases may see more than the answer cites.
                call.output = "" if obj.documents else obj.output or ""
            # Where calls wait, those without output end with the attempt, not for good.
            case p.SectionEnd() if call.output is not None or not self._has_asking:
                call.status = obj.status or "completed"

    @property
    def _has_asking(self) -> bool:
        return any(call.is_asking for call in self._calls.values())

    def _close_round(self) -> Iterator[Event]:
        yield from self._close()
        yield from self._show_after_round()
        yield from self._close()

    def _show_after_round(self) -> Iterator[Event]:
        placed, self._after_round = self._after_round, []
        for placement, obj in placed:
            yield from self._show(placement, obj)

    def _show_calls(self) -> Iterator[Event]:
        """Yield the calls of the round, each once the one before is done.

        Where the run waits for approvals, those that wait are not shown until the next part.
        """
        yield from self._show_calls_of(self._ready_tabs())
        while (wait := self._wait) and self._is_reached(wait):
            yield from self._end_part(wait)
            yield from self._show_calls_of(self._ready_tabs())

    def _ready_tabs(self) -> Iterator[int]:
        """Yield the tabs of the calls that may be shown in this part once they have ended, in their order."""
        wait, late = self._wait, find_late(self._waits, self._round_number)
        of_round = {tab for wait in self._waits if wait.round == self._round_number for tab in wait.tabs}
        for tab in self._in_order(takewhile(self._calls.__contains__, count())):
            before = of_round if self._calls[tab].name in self._functions else of_round - late
            is_put_off = wait is not None and tab not in wait.beside
            if wait and is_put_off and tab in late and not self._have_ended(wait.beside):
                # One of the others may ask a question, so that this call belongs to this part, before what follows it.
                return
            if tab in before or not late or (not is_put_off and self._are_done(before)):
                yield tab

    def _in_order(self, tabs: Iterable[int]) -> list[int]:
        """Sort tabs: where calls need approvals, these come after those that run at once, and the caller's at last."""
        late = find_late(self._waits, self._round_number)
        if not late:
            return sorted(tabs)
        return sorted(tabs, key=lambda tab: (self._calls[tab].name in self._functions, tab in late, tab))

    def _show_calls_of(self, tabs: Iterable[int]) -> Iterator[Event]:
        """Yield these calls until one that has not ended."""
        for tab in tabs:
            call = self._calls[tab]
            if call.is_done:
                continue
            call.request = self._requests.get(tab, "")
            is_callers = call.name in self._functions
            if not is_callers:
                yield from self._begin_call(call)
            if call.status is None or not (call.id or is_callers):
                return
            if not is_callers:
                yield from self._show_outcome(call)
            elif call.status == HANDED_OVER:
                yield from self._show_function_call(call)
            call.is_done = True

    def _begin_call(self, call: Call) -> Iterator[Event]:
        """Yield the beginning of a call, once: when it is known that it runs, or has run, in this part.

        One that has waited may be asked about again.
        """
        if call.id or not call.is_stored or (call.request and call.status is None):
            return
        call.id = self._new_id("mcp")
        index = {"output_index": len(self.output)}
        yield self._event("response.output_item.added", **index, item=call.item("in_progress"))
        yield self._event("response.mcp_call.in_progress", **index, item_id=call.id)

    def _show_outcome(self, call: Call) -> Iterator[Event]:
        status = "completed" if call.status == "completed" else "failed"
        item, of_call = call.item(status), {"output_index": len(self.output), "item_id": call.id}
        yield self._event("response.mcp_call_arguments.done", **of_call, arguments=item["arguments"])
        yield self._event(f"response.mcp_call.{status}", **of_call)
        yield self._done(item)

    def _show_function_call(self, call: Call) -> Iterator[Event]:
        """Yield a call of the caller's tool, whole: one that is refused is the model's to mend, and never shown."""
        call.id = self._new_id("fc")
        index = {"output_index": len(self.output)}
        yield self._event("response.output_item.added", **index, item=call.function_item("in_progress"))
        item = call.function_item("completed")
        arguments, of_call = item["arguments"], {**index, "item_id": call.id}
        yield self._event("response.function_call_arguments.delta", **of_call, delta=arguments)
        yield self._event(
            "response.function_call_arguments.done", **of_call, name=call.name, arguments=arguments
        )
        yield self._done(item)

    # Parts

    @property
    def _wait(self) -> Wait | None:
        """The wait at which this part ends, if that is in the open round."""
        wait = self._ends[self._at] if self._at < len(self._ends) else None
        return wait if wait and wait.round == self._round_number else None

    def _is_reached(self, wait: Wait) -> bool:
        """Return whether all other calls have ended. One without output was interrupted: the run did not get to wait."""
        return self._are_done(wait.beside) and self._have_ended(wait.beside)

    def _have_ended(self, tabs: Iterable[int]) -> bool:
        return all(tab in self._calls and self._calls[tab].output is not None for tab in tabs)

    def _are_done(self, tabs: Iterable[int]) -> bool:
        return all(tab in self._calls and self._calls[tab].is_done for tab in tabs)

    def _end_part(self, wait: Wait) -> Iterator[Event]:
        for tab, asked in wait.asked.items():
            self._requests[tab] = name = name_request(self._run, self._at, tab)
            item = request_item(name, asked)
            yield self._event("response.output_item.added", output_index=len(self.output), item=item)
            yield self._done(item)
        final = {**self._response, "status": "completed", "output": [*self.output]}
        yield self._event("response.completed", response=final)
        self._at += 1
        self.count, self.output, self._has_text = _BEGINNING, [], False
