"""Converts the entries of a run's log to events of AG-UI 1.0, and keeps the messages that they make. Pure.

The protocol has no cursor. Whoever joins later gets all messages at once (MESSAGES_SNAPSHOT), then a start for each that is
still open, and then what follows. An attempt after another shows nothing until it has shown what was shown, or something
else: then the messages are sent anew.
"""

import json
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

from chat.protocol import wire as p
from chat.transcript.packets import HANDED_OVER, Placed
from features.openai.response_stream import snapshot_packets

Event = dict[str, Any]
Message = dict[str, Any]
SNAPSHOT: Final = "MESSAGES_SNAPSHOT"


class _Form(NamedTuple):
    """The events of a kind of text."""

    starts: tuple[str, ...]
    content: str
    ends: tuple[str, ...]
    role: str


_ANSWER: Final = _Form(("TEXT_MESSAGE_START",), "TEXT_MESSAGE_CONTENT", ("TEXT_MESSAGE_END",), "assistant")
_REASONING: Final = _Form(
    ("REASONING_START", "REASONING_MESSAGE_START"),
    "REASONING_MESSAGE_CONTENT",
    ("REASONING_MESSAGE_END", "REASONING_END"),
    "reasoning",
)


@dataclass
class _Text:
    """An open text. parts: what the content of its message does not have yet."""

    form: _Form
    message: Message
    parts: list[str] = field(default_factory=list)

    def settle(self) -> None:
        self.message["content"] += "".join(self.parts)
        self.parts.clear()

    def start(self) -> Iterator[Event]:
        for kind in self.form.starts:
            role = {} if kind == "REASONING_START" else {"role": self.form.role}
            yield {"type": kind, "messageId": self.message["id"], **role}

    def end(self) -> Iterator[Event]:
        metadata = self.message.get("metadata")
        more = {"metadata": metadata} if metadata else {}
        for kind in self.form.ends:
            yield {"type": kind, "messageId": self.message["id"], **more}


@dataclass
class _Call:
    """A call of the open round. member: of its message, None until it is shown; is_open: its arguments may follow."""

    id: str
    name: str
    parent: str
    member: dict[str, Any] | None = None
    is_open: bool = False
    is_asked: bool = False  # it waits for its user
    written: str = ""
    arguments: str = ""
    output: str = ""

    def start(self) -> Iterator[Event]:
        names = {"toolCallName": self.name, "parentMessageId": self.parent}
        yield {"type": "TOOL_CALL_START", "toolCallId": self.id, **names}

    def end(self) -> Iterator[Event]:
        yield {"type": "TOOL_CALL_END", "toolCallId": self.id}


class _Replaced(NamedTuple):
    """What the attempts before have shown. open: what was open of it in the stream."""

    messages: list[Message]
    open: "list[_Text | _Call]"


class ShownAnswer:
    """What has been shown of a run. Its methods yield the events that follow, in order.

    functions: the names of the frontend's tools.  first_block: the turn_index of what is shown first.
    place: is in the ids, behind that of the run.
    messages: those of the run.  pending: the ids of calls that the frontend carries out.  has_stopped: `stop` was fed.
    """

    def __init__(
        self, run: UUID, functions: Collection[str] = frozenset(), first_block: int = 0, place: str = ""
    ) -> None:
        self._run, self._functions, self._first_block = run.hex + place, functions, first_block
        self._joined_at = (0, -1)
        self._attempt = 0
        # Set while an attempt shows again what was shown: nothing of that is sent.
        self._replaced: _Replaced | None = None
        self._forget()

    def _forget(self) -> None:
        self.messages: list[Message] = []
        self.pending: list[str] = []
        self.has_stopped = False
        self._has_text = False
        self._text: _Text | None = None
        self._round: int | None = None  # the turn_index of the open one
        self._round_number = -1
        self._parent = ""  # the id of the message that has its calls
        self._calls: dict[int, _Call] = {}  # its calls that have not ended, by tab
        self._ended: dict[int, str] = {}  # the ids of those that have, by tab
        self._after_round: list[Placed] = []  # what was written after calls that wait

    @property
    def is_waiting(self) -> bool:
        """Whether nothing goes on before the user decides about calls."""
        running = [call.is_asked for call in self._calls.values() if call.name not in self._functions]
        return bool(running) and all(running)

    @property
    def _is_asking(self) -> bool:
        return any(call.is_asked for call in self._calls.values())

    @property
    def asked(self) -> dict[str, str]:
        """The ids of the calls that wait for their user, by those that the model gave them."""
        return {call.id.split("-", 2)[2]: call.id for call in self._calls.values() if call.is_asked}

    def join(self, entries: Iterable[p.Packet | p.Snapshot]) -> Iterator[Event]:
        """Yield what shows these entries to somebody who has seen nothing of them, or part of them."""
        for entry in entries:
            deque(self.feed(entry), maxlen=0)
            self._joined_at = (entry.attempt, entry.seq)
        self._replaced = None
        yield from self._restate([])

    def feed(self, entry: p.Packet | p.Snapshot | p.Reset) -> Iterator[Event]:
        """Yield the events that follow an entry. What was joined already, and an older attempt, has none."""
        if isinstance(entry, p.Reset) or entry.attempt < self._attempt:
            return
        if (entry.attempt, entry.seq) <= self._joined_at:
            return
        is_next, self._attempt = entry.attempt > self._attempt, entry.attempt
        is_snapshot = isinstance(entry, p.Snapshot)
        if (is_next or is_snapshot) and self._replaced is None and self.messages:
            self._replaced = _Replaced(self._settled(), self._open())
        if is_next or is_snapshot:
            self._forget()
        placed = (
            snapshot_packets(entry.message)
            if isinstance(entry, p.Snapshot)
            else [(entry.placement, entry.obj)]
        )
        events = (event for packet in placed for event in self._show(packet))
        if self._replaced is None:
            yield from events
            return
        deque(events, maxlen=0)
        if (is_snapshot and not is_next) or self._has_caught_up(self._replaced):
            yield from self._catch_up()

    def _has_caught_up(self, replaced: _Replaced) -> bool:
        """Return whether the attempt has shown all that was shown, more texts, or something else in a place of it."""
        others = {message["id"]: message for message in self._settled()}
        pairs = [(others.get(message["id"]), message) for message in replaced.messages]
        if any(other and _contradicts(other, message) for other, message in pairs):
            return True
        texts, texts_shown = (
            sum(message["role"] != "tool" for message in messages)
            for messages in (self.messages, replaced.messages)
        )
        # What has been closed is not opened again.
        calls = (call for message in replaced.messages for call in message.get("toolCalls", ()))
        ended = {part["id"] for part in (*replaced.messages, *calls)}
        ended -= {_id_of(block) for block in replaced.open}
        if any(_id_of(block) in ended for block in self._open()):
            return False
        return texts > texts_shown or all(_covers(other, message) for other, message in pairs)

    def _catch_up(self) -> Iterator[Event]:
        """Yield what shows the state in the place of what was shown before."""
        if replaced := self._replaced:
            self._replaced = None
            yield from self._restate(replaced.open)

    def _settled(self) -> list[Message]:
        if self._text:
            self._text.settle()
        return self.messages

    def _open(self) -> list[_Text | _Call]:
        calls = [call for call in self._calls.values() if call.is_open]
        return [self._text, *calls] if self._text else [*calls]

    def _restate(self, before: list[_Text | _Call]) -> Iterator[Event]:
        """Yield the snapshot of all messages. before: what was open in the stream."""
        now = {_id_of(block): block for block in self._open()}
        known = {_id_of(block) for block in before}
        for block in before:
            if _id_of(block) not in now:
                yield from block.end()
        yield {"type": SNAPSHOT, "messages": deepcopy(self._settled())}
        for name, block in now.items():
            if name not in known:
                yield from block.start()

    def close(self, *, is_completed: bool = False) -> Iterator[Event]:
        """Yield what ends everything that is open. is_completed: the run was."""
        yield from self._catch_up()
        yield from self._close(is_completed=is_completed)
        if self.has_stopped:
            yield from self._show_after_round()
            yield from self._close()

    def _close(self, *, is_completed: bool = False) -> Iterator[Event]:
        yield from self._close_text()
        for tab, call in sorted(self._calls.items()):
            if is_completed and call.name in self._functions:
                # The log may have lost that it was handed over.
                yield from self._end_call(tab, HANDED_OVER)
            elif call.is_open:
                yield from self._show_arguments(call)
        self._calls.clear()

    def _show(self, placed: Placed) -> Iterator[Event]:
        """Yield the events of a packet. What happens inside an agent's call is not shown."""
        placement, obj = placed
        if placement.sub_turn_index is not None or placement.turn_index < self._first_block:
            return
        match obj:
            case p.ToolStart():
                yield from self._start_call(placement, obj)
            case (
                p.ToolArgumentsDelta()
                | p.ToolArguments()
                | p.ToolOutput()
                | p.ApprovalRequired()
                | p.SectionEnd(tool_call_id=str())
            ):
                if placement.tab_index in self._calls:
                    yield from self._show_call(placement.tab_index, obj)
            case p.Stop():
                self.has_stopped = True
            case _ if self._calls:
                # Written while they wait. It follows their results.
                if placement.turn_index > (self._round or 0):
                    self._after_round.append(placed)
            case _:
                yield from self._show_text(obj)

    def _show_text(self, obj: p.AnyPacketBody) -> Iterator[Event]:
        match obj:
            case p.ReasoningDelta() | p.MessageDelta():
                form = _ANSWER if isinstance(obj, p.MessageDelta) else _REASONING
                yield from self._write(form, obj.text)
            case p.CitationInfo():
                yield from self._cite(obj)
            case p.ReasoningDone() | p.SectionEnd():
                yield from self._close()

    def _show_after_round(self) -> Iterator[Event]:
        placed, self._after_round = self._after_round, []
        for packet in placed:
            yield from self._show(packet)

    # Texts

    def _write(self, form: _Form, text: str) -> Iterator[Event]:
        if form is _ANSWER and not self._has_text:
            if self._first_block:
                # Line ends that part it from the text before the calls of the frontend.
                text = text.lstrip("\n")
            self._has_text = bool(text)
        if not text:
            return
        yield from self._open_text(form)
        if self._text:
            self._text.parts.append(text)
            yield {"type": form.content, "messageId": self._text.message["id"], "delta": text}

    def _open_text(self, form: _Form) -> Iterator[Event]:
        if self._text is None or self._text.form is not form:
            yield from self._close()
            message = {"id": self._new_id(), "role": form.role, "content": ""}
            self.messages.append(message)
            self._text = _Text(form, message)
            yield from self._text.start()

    def _cite(self, cited: p.CitationInfo) -> Iterator[Event]:
        """Note a source, which the end of its message has as metadata. The text has its link."""
        yield from self._open_text(_ANSWER)
        source: dict[str, Any] = {
            "number": cited.number,
            "documentId": cited.document_id,
            "title": cited.title,
        }
        if cited.url:
            source["url"] = cited.url
        if self._text:
            metadata = self._text.message.setdefault("metadata", {})
            metadata.setdefault("citations", []).append(source)

    def _close_text(self) -> Iterator[Event]:
        if text := self._text:
            text.settle()
            self._text = None
            yield from text.end()

    # Calls

    def _start_call(self, placement: p.Placement, start: p.ToolStart) -> Iterator[Event]:
        if placement.turn_index == self._round:
            yield from self._close_text()
        else:
            yield from self._close()
            yield from self._show_after_round()
            yield from self._close()
            self._round, self._parent, self._ended = placement.turn_index, self._carrier(), {}
            self._round_number += 1
        # A model may repeat an id in its next step.
        name = f"{self._run}-{self._round_number}-{start.tool_call_id}"
        if self._ended.get(placement.tab_index) == name:
            return
        call = self._calls.get(placement.tab_index)
        if call and call.id == name:
            # An attempt shows again the calls of a round that it resumes.
            call.is_asked, call.written = False, ""
            return
        self._calls[placement.tab_index] = call = _Call(name, start.name, self._parent)
        if start.name not in self._functions:
            yield from self._open_call(call)

    def _carrier(self) -> str:
        """Return the id of the message that has the calls of a new round: the text before them, or one of its own."""
        last = self.messages[-1] if self.messages else None
        if last and last["role"] == "assistant" and "toolCalls" not in last:
            return str(last["id"])
        return self._new_id()

    def _open_call(self, call: _Call) -> Iterator[Event]:
        message = next((other for other in self.messages if other["id"] == call.parent), None)
        if message is None:
            message = {"id": call.parent, "role": "assistant"}
            self.messages.append(message)
        call.member = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        message.setdefault("toolCalls", []).append(call.member)
        call.is_open = True
        yield from call.start()

    def _show_call(self, tab: int, obj: p.AnyPacketBody) -> Iterator[Event]:
        call = self._calls[tab]
        match obj:
            case p.ToolArgumentsDelta():
                call.written += obj.text
            case p.ToolArguments():
                # Those that are too long for a packet are in the pieces before it.
                call.arguments = call.written if obj.ref else _json(obj.arguments)
                yield from self._show_arguments(call)
            case p.ApprovalRequired():
                call.is_asked = True
            case p.ToolOutput():
                call.is_asked = False
                call.output = _sources(obj.documents) if obj.documents else obj.output or ""
            # Where calls wait, those without output end with the attempt, not for good.
            case p.SectionEnd() if call.output or not self._is_asking:
                yield from self._end_call(tab, obj.status)

    def _show_arguments(self, call: _Call) -> Iterator[Event]:
        """Yield the arguments, once. Others, with which a call ran in the end, are in a snapshot."""
        if call.member is None:
            return
        function = call.member["function"]
        if call.is_open:
            function["arguments"], call.is_open = call.arguments or "{}", False
            yield {"type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": function["arguments"]}
            yield from call.end()
        elif call.arguments and function["arguments"] != call.arguments:
            function["arguments"] = call.arguments
            yield from self._restate(self._open())

    def _end_call(self, tab: int, status: str | None) -> Iterator[Event]:
        """Yield the end of a call. One of the frontend that is not handed over is the model's to mend, and never shown."""
        call = self._calls.pop(tab)
        if call.name in self._functions:
            if status == HANDED_OVER:
                yield from self._open_call(call)
                yield from self._show_arguments(call)
                self.pending.append(call.id)
            return
        yield from self._show_arguments(call)
        self._ended[tab] = call.id
        result = {"id": f"{call.id}-result", "role": "tool", "toolCallId": call.id}
        result["content"] = call.output or (f"({status})" if status else "")
        self.messages.append(result)
        members = {name: value for name, value in result.items() if name != "id"}
        yield {"type": "TOOL_CALL_RESULT", "messageId": result["id"], **members}
        if not self._calls:
            yield from self._show_after_round()

    def _new_id(self) -> str:
        return f"{self._run}-{sum(message['role'] != 'tool' for message in self.messages)}"


def _contradicts(other: Message, message: Message) -> bool:
    """Return whether a message, as far as it goes, shows something else than the other of its id."""
    content, other_content = message.get("content", ""), other.get("content", "")
    if other["role"] != message["role"]:
        return True
    if not (content.startswith(other_content) or other_content.startswith(content)):
        return True
    calls = {call["id"]: call["function"]["arguments"] for call in other.get("toolCalls", ())}
    pairs = ((call["function"]["arguments"], calls.get(call["id"])) for call in message.get("toolCalls", ()))
    # Arguments come as a whole.
    return any(first and again and first != again for first, again in pairs)


def _covers(other: Message | None, message: Message) -> bool:
    """Return whether the other shows all of a message. Parallel calls begin in any order."""
    if other is None or not other.get("content", "").startswith(message.get("content", "")):
        return False
    calls = {call["id"]: call["function"]["arguments"] for call in other.get("toolCalls", ())}
    pairs = ((call["id"], call["function"]["arguments"]) for call in message.get("toolCalls", ()))
    return all(name in calls and arguments in ("", calls[name]) for name, arguments in pairs)


def _id_of(block: _Text | _Call) -> str:
    return str(block.id if isinstance(block, _Call) else block.message["id"])


def _sources(documents: Collection[Any]) -> str:
    """Name what a search has found. Its texts are the model's; the answer cites them."""
    return "\n".join(f"[{document.number}] {document.title}" for document in documents)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
