"""Converts the packets of a run to the events of OpenAI's Responses API. Pure.

Numbers, ids and types of events follow from the content of the packets, not from their number: a text is shown in pieces
that its characters decide, and parallel calls one after the other. So the packets that were streamed, those that are
rebuilt after the log has expired, and those of an attempt that shows the same again have the same events.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

from chat.protocol import wire as p
from chat.transcript.citation_links import citation_link
from chat.transcript.entries import Document
from chat.transcript.packets import HANDED_OVER

Event = dict[str, Any]

# Where a text is cut follows from what stands before: after white space, or after this many other characters.
_PIECE: Final = re.compile(r"\S{0,11}\s|\S{12}")
# Calls that this server has carried out are shown as calls of a remote server of this name.
SERVER_LABEL: Final = "turnwire"


class ResponseEnd(NamedTuple):
    """How a response ended. members: of the final response."""

    status: str
    members: Mapping[str, Any] = {}


class _Form(NamedTuple):
    """How a kind of text is shown. more: members of all events of its text, and of its part."""

    prefix: str
    part_event: str
    text_event: str
    index_name: str
    more: Mapping[str, Any]


_MESSAGE: Final = _Form(
    "msg", "response.content_part", "response.output_text", "content_index", {"logprobs": []}
)
_REASONING: Final = _Form(
    "rs", "response.reasoning_summary_part", "response.reasoning_summary_text", "summary_index", {}
)


@dataclass
class _Text:
    """An open item with one text. unshown: the end of the text, which is not in an event yet."""

    form: _Form
    id: str
    text: str = ""
    unshown: str = ""
    annotations: list[dict[str, Any]] = field(default_factory=list)

    def part(self, text: str) -> dict[str, Any]:
        if self.form is _REASONING:
            return {"type": "summary_text", "text": text}
        return {"type": "output_text", "text": text, "annotations": [*self.annotations], "logprobs": []}

    def item(self, status: str, *parts: dict[str, Any]) -> dict[str, Any]:
        if self.form is _REASONING:
            return {"id": self.id, "type": "reasoning", "status": status, "summary": [*parts]}
        return {
            "id": self.id,
            "type": "message",
            "status": status,
            "role": "assistant",
            "content": [*parts],
        }


@dataclass
class _Call:
    """A call of a round. status: how it ended, as its packet says; None while it runs."""

    name: str
    call_id: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    written: str = ""
    output: str = ""
    status: str | None = None
    id: str = ""  # of its item, once it is shown

    def function_item(self, status: str) -> dict[str, Any]:
        """Return the item of a call that is handed over to the caller."""
        arguments = _json(self.arguments) if status == "completed" else ""
        members = {"call_id": self.call_id, "name": self.name, "arguments": arguments, "status": status}
        return {"id": self.id, "type": "function_call", **members}

    def item(self, status: str) -> dict[str, Any]:
        has_ended = status != "in_progress"
        is_failed = status == "failed"
        return {
            "id": self.id,
            "type": "mcp_call",
            "server_label": SERVER_LABEL,
            "name": self.name,
            "arguments": _json(self.arguments) if has_ended else "",
            "status": status,
            "output": self.output if has_ended and not is_failed else None,
            "error": {"type": "mcp_tool_execution_error", "content": self._failure()} if is_failed else None,
        }

    def _failure(self) -> list[dict[str, Any]]:
        return [{"type": "text", "text": self.output or self.status}]


class ResponseEvents:
    """The events of one attempt. Its methods yield those that follow, in order.

    response: the members that the response has from its beginning.  output: the items that are done.
    functions: the names of the caller's tools.  first_block: the turn_index of what is shown first.
    """

    def __init__(
        self,
        run: UUID,
        response: Mapping[str, Any],
        functions: Collection[str] = frozenset(),
        first_block: int = 0,
    ) -> None:
        self._run = run.hex
        self._functions = functions
        self._first_block = first_block
        self._has_text = False
        self._response = response
        self.count = 0
        self.output: list[dict[str, Any]] = []
        self._text: _Text | None = None
        self._calls: dict[int, _Call] = {}  # of the open round, by tab
        self._round: int | None = None  # its turn_index
        self._next_tab = 0  # the first call of the round that is not done

    def begin(self) -> Iterator[Event]:
        response = {**self._response, "status": "in_progress"}
        yield self._event("response.created", response=response)
        yield self._event("response.in_progress", response=response)

    def show(self, placement: p.Placement, obj: p.AnyPacketBody) -> Iterator[Event]:
        """Yield the events of a packet. What happens inside an agent's call is not shown."""
        if placement.sub_turn_index is not None or placement.turn_index < self._first_block:
            return
        match obj:
            case (
                p.ToolStart()
                | p.ToolArgumentsDelta()
                | p.ToolArguments()
                | p.ToolOutput()
                | p.SectionEnd(tool_call_id=str())
            ):
                yield from self._show_call(placement, obj)
            case p.ReasoningStart() | p.ReasoningDelta():
                yield from self._write(_REASONING, getattr(obj, "text", ""))
            case p.MessageStart() | p.MessageDelta():
                yield from self._write(_MESSAGE, getattr(obj, "text", ""))
            case p.CitationInfo():
                yield from self._write(_MESSAGE, "")
                yield from self._annotate(obj)
            case p.ReasoningDone() | p.SectionEnd():
                yield from self.close()

    def close(self) -> Iterator[Event]:
        """Yield what ends the open items."""
        yield from self._close_text()
        for call in self._calls.values():
            call.status = call.status or "unknown"
        while self._calls:
            # A tab without a call is left out.
            self._next_tab = min(self._calls)
            yield from self._show_calls()
        self._next_tab = 0

    def end(self, ended: ResponseEnd) -> Iterator[Event]:
        """Yield what ends the response."""
        if ended.status in ("completed", "incomplete"):
            # The log may have lost that they were handed over.
            for call in self._calls.values():
                if call.name in self._functions:
                    call.status = call.status or HANDED_OVER
        yield from self.close()
        kind = ended.status if ended.status in ("completed", "failed") else "incomplete"
        final = {**self._response, "status": ended.status, "output": [*self.output], **ended.members}
        yield self._event(f"response.{kind}", response=final)

    def _event(self, kind: str, **members: Any) -> Event:
        self.count += 1
        return {"type": kind, "sequence_number": self.count - 1, **members}

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}_{self._run}{len(self.output):04x}"

    def _done(self, item: dict[str, Any]) -> Event:
        event = self._event("response.output_item.done", output_index=len(self.output), item=item)
        self.output.append(item)
        return event

    # Texts

    def _write(self, form: _Form, text: str) -> Iterator[Event]:
        """Yield the pieces that are complete with this text. A text goes on where a snapshot left it."""
        if form is _MESSAGE and not self._has_text:
            if self._first_block:
                # Line ends that part it from the text before the rounds of the caller.
                text = text.lstrip("\n")
            self._has_text = bool(text)
        if self._text is None or self._text.form is not form:
            yield from self.close()
            self._text = opened = _Text(form, self._new_id(form.prefix))
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
        match obj:
            case p.ToolStart():
                if self._text or placement.turn_index != self._round:
                    yield from self.close()
                    self._round = placement.turn_index
                self._calls.setdefault(tab, _Call(obj.name, obj.tool_call_id))
            case p.ToolArgumentsDelta() if tab in self._calls:
                self._calls[tab].written += obj.text
            case p.ToolArguments() if tab in self._calls:
                call = self._calls[tab]
                # Of the caller's calls, what is too long for a packet is in those before it.
                is_written = bool(obj.ref) and call.name in self._functions
                call.arguments = json.loads(call.written) if is_written else obj.arguments
            case p.ToolOutput() if tab in self._calls:
                # Of documents, only readers of their bases may see more than the answer cites.
                self._calls[tab].output = "" if obj.documents else obj.output or ""
            case p.SectionEnd() if tab in self._calls:
                self._calls[tab].status = obj.status or "completed"
        yield from self._show_calls()

    def _show_calls(self) -> Iterator[Event]:
        """Yield the calls of the round in the order of their tabs, each once the one before is done."""
        while call := self._calls.get(self._next_tab):
            if call.name in self._functions:
                if call.status is None:
                    return
                if call.status == HANDED_OVER:
                    yield from self._show_function_call(call)
                self._end_call()
                continue
            index = {"output_index": len(self.output)}
            if not call.id:
                call.id = self._new_id("mcp")
                yield self._event("response.output_item.added", **index, item=call.item("in_progress"))
                yield self._event("response.mcp_call.in_progress", **index, item_id=call.id)
            if call.status is None:
                return
            status = "completed" if call.status == "completed" else "failed"
            item = call.item(status)
            arguments = item["arguments"]
            yield self._event(
                "response.mcp_call_arguments.done", **index, item_id=call.id, arguments=arguments
            )
            yield self._event(f"response.mcp_call.{status}", **index, item_id=call.id)
            yield self._done(item)
            self._end_call()

    def _show_function_call(self, call: _Call) -> Iterator[Event]:
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

    def _end_call(self) -> None:
        del self._calls[self._next_tab]
        self._next_tab += 1


def _json(value: Any) -> str:
    """Encode arguments. Stored ones have their members in another order."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
