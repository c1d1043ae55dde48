"""The packets of a run, built in one place for the live stream and for the replay from the database. Pure.

`Blocks` converts the events of a run to (placement, obj) pairs and counts blocks, so that a reload shows exactly what
was streamed. `fold` is its inverse: it converts packets to the text that a reader saw.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from msgspec import UNSET
from msgspec.structs import asdict, replace

from chat.protocol import wire as p
from chat.protocol.call_answers import NO_FACTS, CallFacts, PassageAnswer, SourceAnswer, ToolImageAnswer
from chat.transcript.citations import citation_record
from chat.transcript.entries import Document, Image
from chat.transcript.finish import WHOLE, Finish

Placed = tuple[p.Placement, p.AnyPacketBody]

# JSON encodes a character in at most six bytes, so that a packet stays under wire.MAX_PACKET_BYTES.
MAX_SHOWN_CHARACTERS: Final = 10_000
MAX_SHOWN_DOCUMENTS: Final = 50
MAX_TITLE_CHARACTERS: Final = 200
MAX_SNIPPET_CHARACTERS: Final = 200

# Values of chat.models.ToolCallStatus.
COMPLETED: Final = "completed"
UNKNOWN: Final = "unknown"
HANDED_OVER: Final = "pending"


class WaitingCall(Protocol):
    """A call that waits for approval or for an answer. id: of its row."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> Mapping[str, Any]: ...


@dataclass
class Blocks:
    """Opens and closes blocks: each reasoning block, tool round and answer block has its own turn_index.

    inside: the placement of the enclosing agent call; its blocks are counted by sub_turn_index, one per parallel call,
    and its text is a report. documents: the documents that can be cited so far, by number; shared with the blocks
    inside. Methods yield the packets to emit, in order. Empty text yields nothing.
    """

    model_index: int = 0
    turn_index: int = 0
    inside: p.Placement | None = None
    open: Literal["reasoning", "message", "tools"] | None = None
    documents: dict[int, Document] = field(default_factory=dict)
    thought_ms: int | None = None  # the duration of the open reasoning block so far
    _running: dict[int, str] = field(default_factory=dict)  # tab -> tool_call_id of the open round
    _in_writing: set[int] = field(default_factory=set)  # tabs whose arguments have been shown as text
    _width: int = 1  # how many calls the open round has

    def run_start(self, model: str) -> Iterator[Placed]:
        yield self._place(p.RunStart(model=model))

    def reasoning(self, text: str, thought_ms: int | None = None) -> Iterator[Placed]:
        """Yield a piece of reasoning. thought_ms: the duration of this block so far; sent when it ends."""
        if not text:
            return
        if self.open != "reasoning":
            yield from self.close()
            self.open = "reasoning"
            yield self._place(p.ReasoningStart())
        self.thought_ms = thought_ms
        yield self._place(p.ReasoningDelta(text=text))

    def message(self, text: str) -> Iterator[Placed]:
        if not text:
            return
        if self.open != "message":
            yield from self._open_message()
        yield self._place(p.ReportDelta(text=text) if self.inside else p.MessageDelta(text=text))

    def citation(self, document: Document) -> Iterator[Placed]:
        """Yield a citation. It comes before the text that contains the link to the document."""
        if self.open != "message":
            yield from self._open_message()
        yield self._place(
            p.CitationInfo(document.number, document.document_id, document.title, document.url or None)
        )

    def round(self, count: int) -> Iterator[Placed]:
        """Open a round of `count` calls, one per tab. The first call may be shown already, from its arguments."""
        yield from self._open_round()
        self._width = max(self._width, count)
        if count > 1 and self.inside is None:
            yield self._place(p.TopLevelBranching(count=count))

    def tool_start(self, tab: int, tool_call_id: str, name: str) -> Iterator[Placed]:
        """Start a call. Yields nothing if it is shown already."""
        yield from self._open_round()
        if self._running.get(tab) != tool_call_id:
            self._running[tab] = tool_call_id
            yield self._place(p.ToolStart(tool_call_id=tool_call_id, name=name), tab)

    def tool_writing(self, tab: int, text: str) -> Iterator[Placed]:
        """Yield a piece of the arguments, as the model writes them."""
        self._in_writing.add(tab)
        for start in range(0, len(text), MAX_SHOWN_CHARACTERS):
            piece = text[start : start + MAX_SHOWN_CHARACTERS]
            yield self._place(p.ToolArgumentsDelta(self._running[tab], piece), tab)

    def tool_arguments(self, tab: int, arguments: Mapping[str, Any], ref: str) -> Iterator[Placed]:
        """Yield the arguments as text, unless they were shown while they were written, and then as an object.

        Called again if the call ran with others.  ref: where arguments that are too long for a packet are found.
        """
        tool_call_id = self._running[tab]
        text = p.encode(dict(arguments)).decode()
        if tab not in self._in_writing:
            yield from self.tool_writing(tab, text)
        if len(text) > MAX_SHOWN_CHARACTERS:
            yield self._place(p.ToolArguments(tool_call_id, {}, ref=ref), tab)
        else:
            yield self._place(p.ToolArguments(tool_call_id, dict(arguments)), tab)

    def approval_required(self, tab: int, call: WaitingCall, asked: Mapping[str, Any]) -> Iterator[Placed]:
        """Ask the user about a call. asked: from present_asked. Arguments too long for a packet are only in the list of open approvals."""
        arguments = dict(call.arguments)
        shown = arguments if len(p.encode(arguments)) <= MAX_SHOWN_CHARACTERS else {}
        yield self._place(p.ApprovalRequired(self._running[tab], call.id, call.name, shown, **asked), tab)

    def passing(self, tab: int, packet: p.AnyPacketBody) -> Iterator[Placed]:
        """Yield a packet that is not kept, about a call; nothing once the call has ended."""
        if tab in self._running:
            yield self._place(packet, tab)

    def tool_output(
        self, tab: int, response: str, documents: Iterable[Document], ref: str, images: Iterable[Image] = ()
    ) -> Iterator[Placed]:
        """Yield the result of a call. Its documents are shown instead of the response text, its images beside it."""
        found = list(documents)
        self.documents |= {document.number: document for document in found}
        answers = [present_image(image) for image in images] or None
        yield self._place(replace(_output(self._running[tab], response, found, ref), images=answers), tab)

    def tool_end(self, tab: int, status: str = UNKNOWN, facts: CallFacts = NO_FACTS) -> Iterator[Placed]:
        """End a call. Without a status the call was interrupted and its outcome is unknown."""
        if tab in self._running:
            # omit_defaults compares by identity, which fails for a status read from the database.
            sent_status = None if status == COMPLETED else status
            yield self._place(p.SectionEnd(self._running.pop(tab), sent_status, **asdict(facts)), tab)

    def within(self, tab: int) -> "Blocks":
        """Return the blocks inside the call of this tab of the open round."""
        place = self._place(p.SectionEnd(), tab)[0]
        return Blocks(model_index=self.model_index, inside=place, documents=self.documents)

    def close(self) -> Iterator[Placed]:
        """End the open block, if any; the next one gets the next turn_index."""
        width = 1
        match self.open:
            case None:
                return
            case "reasoning":
                yield self._place(p.ReasoningDone(self.thought_ms))
            case "message":
                yield self._place(p.SectionEnd())
            case "tools":
                for tab in sorted(self._running):
                    yield from self.tool_end(tab)
                self._in_writing.clear()
                width = self._width if self.inside else 1
        self.open = None
        self.turn_index += width

    def error(self, code: str, message: str, *, retryable: bool) -> Iterator[Placed]:
        yield from self.close()
        yield self._place(p.Error(code=code, message=message, retryable=retryable))

    def stop(self, reason: p.StopReason, finish: Finish = WHOLE) -> Iterator[Placed]:
        yield from self.close()
        yield self._place(p.Stop(reason, finish.cut_reason, finish.tokens))

    def _open_message(self) -> Iterator[Placed]:
        yield from self.close()
        self.open = "message"
        if self.inside:
            yield self._place(p.ReportStart())
        else:
            yield self._place(
                p.MessageStart(documents=[_source(self.documents[n]) for n in sorted(self.documents)])
            )

    def _open_round(self) -> Iterator[Placed]:
        if self.open != "tools":
            yield from self.close()
            self.open = "tools"
            self._width = 1

    def _place(self, obj: p.AnyPacketBody, tab: int = 0) -> Placed:
        if self.inside is None:
            return p.Placement(self.turn_index, tab, None, self.model_index), obj
        place = p.Placement(
            self.inside.turn_index, self.inside.tab_index, self.turn_index + tab, self.model_index
        )
        return place, obj


def _output(tool_call_id: str, response: str, documents: list[Document], ref: str) -> p.ToolOutput:
    if documents:
        sources = [_source_with_excerpt(document) for document in documents[:MAX_SHOWN_DOCUMENTS]]
        is_cut = len(sources) < len(documents)
        return p.ToolOutput(
            tool_call_id, _note_of(response), documents=sources, truncated=is_cut, ref=ref if is_cut else None
        )
    is_cut = len(response) > MAX_SHOWN_CHARACTERS
    return p.ToolOutput(
        tool_call_id, output=response[:MAX_SHOWN_CHARACTERS], truncated=is_cut, ref=ref if is_cut else None
    )


def present_image(image: Image) -> ToolImageAnswer:
    return ToolImageAnswer(image.id, image.name, image.width_px, image.height_px)


def _note_of(response: str) -> str | None:
    """Extract the note that a response has beside its documents (llm_worker/request/numbered_documents.py), if any."""
    try:
        found = json.loads(response)
    except ValueError:
        return None
    note = found.get("note") if isinstance(found, dict) else None
    return note if isinstance(note, str) else None


def snippet(document: Document) -> str:
    """Return the beginning of a document's text, on one line."""
    return " ".join(document.contents[: 2 * MAX_SNIPPET_CHARACTERS].split())[:MAX_SNIPPET_CHARACTERS]


def _source_with_excerpt(document: Document) -> SourceAnswer:
    """Return a document as clients see it, with the beginning of its text and the place where it was found."""
    return replace(
        _source(document),
        snippet=snippet(document) or UNSET,
        passage=PassageAnswer(*document.passage) if document.passage else UNSET,
        knowledge_base=document.knowledge_base or UNSET,
    )


def _source(document: Document) -> SourceAnswer:
    title = document.title[:MAX_TITLE_CHARACTERS]
    return SourceAnswer(document.number, document.document_id, title, document.url or UNSET)


@dataclass
class Shown:
    """The content that a reader saw of a run after some of its packets. reasoning: since the last round of tools."""

    text: str = ""
    reasoning: str = ""
    reasoning_ms: int | None = None
    citations: list[dict[str, Any]] = field(default_factory=list)
    stop_reason: str | None = None
    error: p.Error | None = None


def fold(placed: Iterable[Placed]) -> Shown:
    """Collect the content of these packets outside agent tools, with text and reasoning joined."""
    objs = [obj for place, obj in placed if place.sub_turn_index is None]
    tools = [at for at, obj in enumerate(objs) if isinstance(obj, p.ToolStart)]
    since_tools = objs[tools[-1] + 1 :] if tools else objs
    thoughts = [obj.duration_ms for obj in since_tools if isinstance(obj, p.ReasoningDone)]
    durations = [duration for duration in thoughts if duration is not None]
    return Shown(
        text="".join(obj.text for obj in objs if isinstance(obj, p.MessageDelta)),
        reasoning="".join(obj.text for obj in since_tools if isinstance(obj, p.ReasoningDelta)),
        reasoning_ms=sum(durations) if durations else None,
        citations=[citation_record(obj) for obj in objs if isinstance(obj, p.CitationInfo)],
        stop_reason=next((obj.stop_reason for obj in objs if isinstance(obj, p.Stop)), None),
        error=next((obj for obj in objs if isinstance(obj, p.Error)), None),
    )
