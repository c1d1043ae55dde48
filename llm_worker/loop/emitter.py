"""Emitter: sends readers everything that a loop shows. One per attempt, and one per agent call inside it.

It sends what a model streams through the answer pipeline (stream/pipeline.py) and turns its outputs into packets and
into entries of RunState: what is shown is saved. The log producer numbers the packets.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from chat.protocol import wire as p
from chat.transcript.citations import Citations
from chat.transcript.entries import Document
from chat.transcript.finish import WHOLE, Finish
from chat.transcript.packets import Blocks, Placed
from llm_worker.loop.state import RunState, Utterance
from llm_worker.stream.call_assembler import CallFragment, RequestedCall
from llm_worker.stream.paragraphs import Paragraphs
from llm_worker.stream.pipeline import AnswerPipeline, Output
from llm_worker.stream.text_calls import TextCalls
from llm_worker.stream.think_tags import Reasoning, split_untagged


class PacketSink(Protocol):
    """Receives packets; a worker uses chat.log.producer.PacketProducer."""

    def emit(self, placement: p.Placement, obj: p.AnyPacketBody) -> None: ...

    def hold(self) -> None:
        """Hold packets back from checkpoints: until release(), no checkpoint counts what is emitted from now on."""
        ...

    def release(self) -> None: ...


class DeltaSink(Protocol):
    """Receives text and reasoning deltas."""

    def text(self, text: str) -> None: ...

    def reasoning(self, text: str) -> None: ...


@dataclass
class CallPreview:
    """A call that readers are shown while the model writes it; it has no row yet."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list)  # of its arguments


class DeferredText:
    """A DeltaSink for text that a model writes after a call that readers see already: it is shown after the round."""

    def __init__(self) -> None:
        self.deltas: list[str | Reasoning] = []

    def text(self, text: str) -> None:
        self.deltas.append(text)

    def reasoning(self, text: str) -> None:
        self.deltas.append(Reasoning(text))


class OutputAllowance:
    """The characters that may still be shown."""

    def __init__(self, characters: int | None) -> None:
        self._left = characters
        self.is_full = False

    def take(self, text: str) -> str:
        """Take as much of the text as there is room for, and return it."""
        if self._left is None:
            return text
        self.is_full |= len(text) > self._left
        taken = text[: self._left]
        self._left -= len(taken)
        return taken


class AnswerForm(NamedTuple):
    """The form of an answer. max_characters: of its text, and of its reasoning; None: no limit.

    is_json: the answer is JSON, in which `[1]` cites nothing.  is_untagged: the model omits the tag before its reasoning.
    """

    max_characters: int | None = None
    is_json: bool = False
    is_untagged: bool = False


class StepOutput(NamedTuple):
    """The output of a step. utterance: shown since the latest round.  calls: calls that the model wrote as text."""

    utterance: Utterance
    calls: list[RequestedCall]


class Emitter:
    """Implements DeltaSink for one loop."""

    def __init__(
        self,
        sink: PacketSink,
        state: RunState,
        blocks: Blocks,
        clock: Callable[[], float],
        form: AnswerForm = AnswerForm(),  # noqa: B008  immutable
    ) -> None:
        """Begin the first passage. clock: monotonic, in seconds."""
        self._sink = sink
        self._form = form
        self._text_room = OutputAllowance(form.max_characters)
        self._reasoning_room = OutputAllowance(form.max_characters)
        self._clock = clock
        self.state = state
        self.blocks = blocks
        self._own_documents: dict[int, Document] = {}
        self.documents = ChainMap(blocks.documents, self._own_documents)  # may be cited, by number
        # The report of an agent tool is a source for the answer, and keeps its numbers as they are.
        self._citations = Citations(self.documents, "plain" if blocks.inside else "links")
        self._pipeline = AnswerPipeline(self._citations)
        self._passage = state.open_passage()
        self._step_begins_at = 0, 0  # the number of pieces of the passage that were shown before
        self._has_spoken = False
        self._paragraphs = Paragraphs(are_parted=not blocks.inside)
        # Whether tools have found documents in this loop, or in a loop inside it.
        self.has_found = False
        self._is_untagged = form.is_untagged  # as far as the model has shown by now
        self.preview: CallPreview | None = None
        self._deferred = DeferredText()
        self._reasoning_since = 0.0

    def within(self, tab: int, state: RunState) -> Emitter:
        """Return an emitter for the loop inside the call of this tab of the open round."""
        form = AnswerForm(self._form.max_characters, is_untagged=self._is_untagged)
        return Emitter(self._sink, state, self.blocks.within(tab), self._clock, form)

    @property
    def cited(self) -> dict[int, Document]:
        """The documents that have been cited so far, by number."""
        return self._citations.cited

    def cite_from(self, documents: Iterable[Document]) -> None:
        """Let these documents be cited, besides those that tools find."""
        self._own_documents |= {document.number: document for document in documents}

    def withhold_documents(self, numbers: Iterable[int]) -> None:
        """Withhold documents, which may no longer be cited."""
        for number in numbers:
            self.blocks.documents.pop(number, None)

    def restore(self, text: str, reasoning: str, cited: Iterable[Document] = ()) -> None:
        """Take over what earlier attempts showed and this one continues, to save it again. cited: what the text cites."""
        self.cited.update({document.number: document for document in cited})
        self._text_room.take(text)
        self._reasoning_room.take(reasoning)
        self._passage.texts += [text] if text else []
        self._paragraphs.note(text)
        self._passage.reasonings += [reasoning] if reasoning else []

    def begin_step(self, text_calls: TextCalls | None = None) -> None:
        """Begin an inference, which may cite all documents found by now. Shows deferred text first.

        text_calls: finds the calls that the model writes as text; None: they are text like any other.
        """
        self._pipeline.start(
            text_calls,
            has_documents=bool(self.documents) and not self._form.is_json,
            is_untagged=self._is_untagged,
        )
        self._step_begins_at = len(self._passage.texts), len(self._passage.reasonings)
        self.show_deferred()

    def show(self, placed: Iterable[Placed]) -> None:
        """Emit packets that the blocks have built."""
        for placement, obj in placed:
            self._sink.emit(placement, obj)

    def text(self, text: str) -> None:
        """Show a piece of the answer, as the model sent it."""
        self._emit(self._pipeline.text(text))

    def reasoning(self, text: str) -> None:
        """Show a piece of what the server itself marks as reasoning."""
        if self._is_untagged and text:
            self._is_untagged = False
            self.state.outermost.has_marked_reasoning = True
        self._show_reasoning(self._pipeline.reasoning(text))

    def call(self, fragment: CallFragment) -> DeltaSink:
        """Show the written part of the model's first call; its further deltas go to the sink that is returned.

        Until calls_are_stored() nothing else is shown, and no checkpoint counts what readers see of the call.
        """
        if self.preview is None:
            self._emit(self._pipeline.flush())
            self._sink.hold()
            self.preview = CallPreview(fragment.id, fragment.name)
            self.show(self.blocks.tool_start(fragment.tab, fragment.id, fragment.name))
        self.preview.pieces.append(fragment.text)
        self.show(self.blocks.tool_writing(fragment.tab, fragment.text))
        return self._deferred

    def end_step(self) -> StepOutput:
        """End an inference and show text that was held back."""
        self._emit(self._pipeline.flush())
        self._separate_untagged_thinking()
        return StepOutput(self._passage.utterance, self._pipeline.take_calls())

    def _separate_untagged_thinking(self) -> None:
        """Save text before a closing tag without opening tag as reasoning; readers see that at the end of the run."""
        passage = self._passage
        if passage.reasonings or not (split := split_untagged("".join(passage.texts))):
            return
        reasoning, text = split
        passage.reasonings, passage.texts = [reasoning], [self._paragraphs.begin_again(text)]
        self._step_begins_at = 0, 0
        self.state.outermost.has_untagged_thinking = self._is_untagged = True

    @property
    def written_in_step(self) -> str:
        """The reasoning and the text of the latest inference."""
        texts, reasonings = self._step_begins_at
        return "".join((*self._passage.reasonings[reasonings:], *self._passage.texts[texts:]))

    def calls_are_stored(self) -> None:
        """Note that the calls that readers see have rows, or will have them at the end of the run."""
        if self.preview:
            self.preview = None
            self._sink.release()

    def open_round(self) -> None:
        """Open a passage: text since the previous round belongs to the round that starts, whatever its results."""
        self._passage = self.state.open_passage()
        self._paragraphs.open_passage()

    def end(self) -> None:
        """Show everything but the error and `stop`, which follow when the end has been committed."""
        self.end_step()
        self.show_deferred()
        self.show(self.blocks.close())

    def stop(self, reason: p.StopReason, error: p.Error | None = None, finish: Finish = WHOLE) -> None:
        if error:
            self.show(self.blocks.error(error.code, error.message, retryable=error.retryable))
        self.show(self.blocks.stop(reason, finish))

    def show_deferred(self) -> None:
        """Show the text that the model wrote after a call: the round is over, or waits for its user."""
        deltas, self._deferred = self._deferred.deltas, DeferredText()
        for delta in deltas:
            self.reasoning(delta.text) if isinstance(delta, Reasoning) else self.text(delta)
        if deltas:
            self._emit(self._pipeline.flush())

    def _emit(self, outputs: Iterable[Output]) -> None:
        """Turn the outputs of the pipeline into packets and saved text."""
        for output in outputs:
            if isinstance(output, str):
                self._show_text(output)
            elif isinstance(output, Reasoning):
                self._show_reasoning(output.text)
            elif not self.blocks.inside:
                self.show(self.blocks.citation(output))

    @property
    def is_full(self) -> bool:
        """Whether a model has written as much as it may; further text is not shown."""
        return self._text_room.is_full or self._reasoning_room.is_full

    def _show_text(self, text: str) -> None:
        if text := self._text_room.take(self._paragraphs.begin(text)):
            self._paragraphs.note(text)
            if not self._has_spoken:
                self._speak()
            self._passage.texts.append(text)
            self.show(self.blocks.message(text))

    def _show_reasoning(self, text: str) -> None:
        if text := self._reasoning_room.take(text):
            if not self._has_spoken:
                self._speak()
            self._passage.reasonings.append(text)
            self.show(self.blocks.reasoning(text, self._reasoning_ms()))

    def _speak(self) -> None:
        self._has_spoken = True
        self.state.stamp_first_token(self._clock())

    def _reasoning_ms(self) -> int | None:
        """Measure how long the reasoning block, open or about to be, has been written. None inside an agent tool."""
        if self.blocks.inside:
            return None
        now = self._clock()
        if self.blocks.open != "reasoning":
            self._reasoning_since = now
            self._passage.open_reasoning()
        self._passage.block_ms = block_ms = round((now - self._reasoning_since) * 1000)
        return block_ms
