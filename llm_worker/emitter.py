"""Emitter: how the layers below say something. One per attempt; what it sends is what RunState keeps.

It cleans text, tells reasoning, calls written as text and citations from the answer, and opens and closes blocks;
numbering is the producer's.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from chat.protocol import wire as p
from chat.transcript.entries import Document
from chat.transcript.packets import Blocks, Placed
from llm_worker.state import RunState
from llm_worker.stream.call_assembler import CallFragment, RequestedCall
from llm_worker.stream.citations import Citations
from llm_worker.stream.sanitiser import Sanitiser
from llm_worker.stream.think_tags import Kind, ThinkSplitter


class PacketSink(Protocol):
    """What an emitter needs of chat.log.producer.PacketProducer."""

    def emit(self, placement: p.Placement, obj: p.AnyObj) -> None: ...

    def hold(self) -> None: ...

    def release(self) -> None: ...


class DeltaSink(Protocol):
    """Whoever is told what the model says."""

    def text(self, text: str) -> None: ...

    def reasoning(self, text: str) -> None: ...


class CallSearch(Protocol):
    """Finds tool calls that a model writes as text. calls: those found, once the text has been flushed."""

    calls: list[RequestedCall]

    def feed(self, text: str) -> str:
        """What of it may be shown by now."""
        ...

    def flush(self) -> str: ...


@dataclass
class CallPreview:
    """A call that readers are shown while the model writes it; no row knows of it yet."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list)  # of its arguments


class DeferredText:
    """Keeps what a model says after a call that readers are shown already: its place is behind the round."""

    def __init__(self) -> None:
        self.said: list[tuple[Kind, str]] = []

    def text(self, text: str) -> None:
        self.said.append(("text", text))

    def reasoning(self, text: str) -> None:
        self.said.append(("reasoning", text))


class Emitter:
    def __init__(
        self, producer: PacketSink, state: RunState, blocks: Blocks, clock: Callable[[], float]
    ) -> None:
        """clock: seconds, monotonic; stamps the first token."""
        self._producer = producer
        self._clock = clock
        self.state = state
        self.blocks = blocks
        self._text_calls: CallSearch | None = None
        self._given: dict[int, Document] = {}
        self.documents = ChainMap(blocks.documents, self._given)  # what may be cited, by number
        # A report is cited from, not citing: its numbers stay numbers.
        self._citations = Citations(self.documents, "plain" if blocks.inside else "links")
        self._may_cite = False
        self.written: CallPreview | None = None
        self._later = DeferredText()
        self._thinking_since = 0.0
        self._thought_before_ms = 0
        self._renew()

    def within(self, tab: int, state: RunState) -> Emitter:
        """For what happens inside the call of this tab of the open round."""
        return Emitter(self._producer, state, self.blocks.within(tab), self._clock)

    @property
    def cited(self) -> dict[int, Document]:
        """What has been cited so far, by number."""
        return self._citations.cited

    def run_start(self, model: str) -> None:
        self.show(self.blocks.run_start(model))

    def cite_from(self, documents: Iterable[Document]) -> None:
        """What may be cited besides what tools find."""
        self._given |= {document.number: document for document in documents}

    def begin_step(self, search: CallSearch | None = None) -> None:
        """What the next inference writes like a call is one, and it may cite what has been found by now.

        None: what it writes like a call is text like any other.
        """
        self._text_calls = search
        self._may_cite = bool(self.documents)
        self._say_later()

    def show(self, placed: Iterable[Placed]) -> None:
        """Packets as the blocks build them."""
        for placement, obj in placed:
            self._producer.emit(placement, obj)

    def text(self, text: str) -> None:
        """A piece of the answer, as the model sent it."""
        for kind, piece in self._think.feed(self._clean_text.clean(text)):
            self._tell(kind, piece)

    def reasoning(self, text: str) -> None:
        self._say("reasoning", self._clean_reasoning.clean(text))

    def call(self, piece: CallFragment) -> DeltaSink:
        """What the model has written of its first call; what it says after that goes to the one returned.

        Until calls_are_stored() nothing else is said, and no checkpoint counts what readers see of it.
        """
        if self.written is None:
            self._say_held_back()
            self._producer.hold()
            self.written = CallPreview(piece.id, piece.name)
            self.show(self.blocks.tool_start(piece.tab, piece.id, piece.name))
        self.written.pieces.append(piece.text)
        self.show(self.blocks.tool_writing(piece.tab, piece.text))
        return self._later

    def calls_are_stored(self) -> None:
        """The rows know, or will know with the end of the run, what readers see."""
        if self.written:
            self.written = None
            self._producer.release()

    def end_step(self) -> list[RequestedCall]:
        """Say what was held back; the next inference begins anew. Returns the calls that were written as text."""
        self._say_held_back()
        calls = self._text_calls.calls if self._text_calls else []
        self._text_calls = None
        return calls

    def end(self) -> None:
        """Everything but the error and `stop`, which are said when the end has been committed."""
        self.end_step()
        self._say_later()
        self.show(self.blocks.close())

    def stop(self, reason: p.StopReason, error: p.Error | None = None) -> None:
        if error:
            self.show(self.blocks.error(error.code, error.message, retryable=error.retryable))
        self.show(self.blocks.stop(reason))

    def _say_later(self) -> None:
        later, self._later = self._later.said, DeferredText()
        for kind, text in later:
            self.text(text) if kind == "text" else self.reasoning(text)
        if later:
            self._say_held_back()

    def _say_held_back(self) -> None:
        self._say("reasoning", self._clean_reasoning.flush())
        for kind, piece in self._think.feed(self._clean_text.flush()):
            self._tell(kind, piece)
        for kind, piece in self._think.flush():
            self._tell(kind, piece)
        if self._text_calls:
            self._cite(self._text_calls.flush())
        if self._may_cite:
            self._say_parts(self._citations.flush())
        self._renew()

    def _renew(self) -> None:
        self._clean_text = Sanitiser()
        self._clean_reasoning = Sanitiser()
        self._think = ThinkSplitter()

    def _tell(self, kind: Kind, text: str) -> None:
        if kind == "text" and (self._text_calls or self._may_cite):
            self._cite(self._text_calls.feed(text) if self._text_calls else text)
        else:
            self._say(kind, text)

    def _cite(self, text: str) -> None:
        if self._may_cite:
            self._say_parts(self._citations.feed(text))
        else:
            self._say("text", text)

    def _say_parts(self, parts: Iterable[str | Document]) -> None:
        for part in parts:
            if isinstance(part, str):
                self._say("text", part)
            elif not self.blocks.inside:
                self.show(self.blocks.citation(part))

    def _say(self, kind: Kind, text: str) -> None:
        if not text:
            return
        counted = self.state.outermost
        if counted.first_token_at is None:
            counted.first_token_at = self._clock()
        if kind == "text":
            self.state.texts.append(text)
            self.show(self.blocks.message(text))
        else:
            self.state.reasonings.append(text)
            self.show(self.blocks.reasoning(text, self._thought_ms()))

    def _thought_ms(self) -> int | None:
        """How long the reasoning block that is open, or about to be, has been written; the run's own, not an agent's."""
        if self.blocks.inside:
            return None
        if self.blocks.open != "reasoning":
            self._thinking_since = self._clock()
            self._thought_before_ms = self.state.reasoning_ms or 0
        thought_ms = round((self._clock() - self._thinking_since) * 1000)
        self.state.reasoning_ms = self._thought_before_ms + thought_ms
        return thought_ms
