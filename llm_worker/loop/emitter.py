"""Emitter: sends readers everything that a loop shows. One per attempt, and one per agent call inside it.

It sends what a model streams through the answer pipeline (stream/pipeline.py) and turns its outputs into packets and
into entries of RunState: what is shown is saved. The log producer numbers the packets. The loop only writes to it: what
the loop needs of an inference is what begin_step() and end_step() return.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Concatenate, Literal, NamedTuple, ParamSpec, Protocol

from chat.protocol import wire as p
from chat.transcript.citations import Citations, linked_documents
from chat.transcript.entries import Document
from chat.transcript.finish import WHOLE, Finish
from chat.transcript.packets import Blocks, Placed
from chat.transcript.rebuild import ShownRound, show_before, show_rounds
from llm_worker.loop.state import NOTHING_WRITTEN, RunState, Utterance
from llm_worker.stream.call_assembler import CallFragment, RequestedCall
from llm_worker.stream.pipeline import AnswerPipeline, Output, Paragraphs
from llm_worker.stream.text_calls import TextCalls
from llm_worker.stream.think_tags import Reasoning, split_untagged

Arguments = ParamSpec("Arguments")


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


class OutputRoom:
    """The characters of text, or of reasoning, that may still be shown. is_full: the model has written more."""

    def __init__(self, characters: int | None) -> None:
        self._left = {"text": characters, "reasoning": characters}
        self.is_full = False

    def fit(self, kind: Literal["text", "reasoning"], text: str) -> str:
        """Return as much of the text as there is room for."""
        left = self._left[kind]
        if left is None:
            return text
        self.is_full |= len(text) > left
        self._left[kind] = max(0, left - len(text))
        return text[:left]


class AnswerForm(NamedTuple):
    """The form of an answer. max_characters: of its text, and of its reasoning; None: no limit.

    is_json: the answer is JSON, in which `[1]` cites nothing.  is_untagged: the model omits the tag before its reasoning.
    """

    max_characters: int | None = None
    is_json: bool = False
    is_untagged: bool = False


class StepOutput(NamedTuple):
    """The output of an inference, as far as it was shown. written: its reasoning and its text.

    utterance: shown since the latest round.  calls: calls that the model wrote as text.
    """

    written: str
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
        self._room = OutputRoom(form.max_characters)
        self._clock = clock
        self.state = state
        self._blocks = blocks
        self._own_documents: dict[int, Document] = {}
        self._documents = ChainMap(blocks.documents, self._own_documents)  # may be cited, by number
        # The report of an agent tool is a source for the answer, and keeps its numbers as they are.
        self._citations = Citations(self._documents, "plain" if blocks.inside else "links")
        self._pipeline = AnswerPipeline(self._citations)
        self._passage = state.open_passage()
        self._step_begins_at = 0, 0  # the number of pieces of the passage that were shown before
        self._has_spoken = False
        self._paragraphs = Paragraphs(are_parted=not blocks.inside)
        self._reads_text_calls = True
        self._is_untagged = form.is_untagged  # as far as the model has shown by now
        self.preview: CallPreview | None = None
        self._deferred = DeferredText()
        self._reasoning_since = 0.0

    def within(self, tab: int, state: RunState) -> Emitter:
        """Return an emitter for the loop inside the call of this tab of the open round. state: of that loop."""
        form = AnswerForm(self._form.max_characters, is_untagged=self._is_untagged)
        return Emitter(self._sink, state, self._blocks.within(tab), self._clock, form)

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
            self._blocks.documents.pop(number, None)

    def restore(self, text: str, reasoning: str, cited: Iterable[Document] = ()) -> None:
        """Take over what earlier attempts showed and this one continues, to save it again. cited: what the text cites."""
        self.cited.update({document.number: document for document in cited})
        self._room.fit("text", text)
        self._room.fit("reasoning", reasoning)
        self._passage.texts.extend([text] if text else [])
        self._paragraphs.note(text)
        self._passage.reasonings.extend([reasoning] if reasoning else [])

    def continue_text(self, text: str, reasoning: str) -> None:
        """Take over the text that earlier attempts showed after the rounds."""
        self.restore(text, reasoning, linked_documents(text, self._uncited().values()))

    def replay(self, each: ShownRound, *, is_finished: bool, silently: bool) -> None:
        """Show a round again, or only the text before it if its calls have not ended. silently: readers see it already."""
        uncited = self._uncited()
        left = dict(uncited)
        if is_finished:
            placed = list(show_rounds(self._blocks, [each], left))
        else:
            placed = list(show_before(self._blocks, each, left))
        if not silently:
            self._send(placed)
        cited = [uncited[number] for number in uncited if number not in left]
        self.restore(each.text_before, each.reasoning, cited)
        if is_finished:
            self.open_round()

    def _uncited(self) -> dict[int, Document]:
        return {number: document for number, document in self._documents.items() if number not in self.cited}

    def begin_step(self, text_calls: TextCalls | None = None) -> OutputRoom:
        """Begin an inference, which may cite all documents found by now. Shows deferred text first.

        text_calls: finds the calls that the model writes as text; None: they are text like any other.
        Returns the room for its output; what is beyond is not shown.
        """
        self._pipeline.start(
            # Once per turn: further markup is talk about tools.
            text_calls if self._reads_text_calls else None,
            has_documents=bool(self._documents) and not self._form.is_json,
            is_untagged=self._is_untagged,
        )
        self._step_begins_at = len(self._passage.texts), len(self._passage.reasonings)
        self.show_deferred()
        return self._room

    def show(
        self,
        build: Callable[Concatenate[Blocks, Arguments], Iterable[Placed]],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> None:
        """Emit the packets that `build` makes with the blocks of this loop, and these arguments."""
        self._send(build(self._blocks, *args, **kwargs))

    def _send(self, placed: Iterable[Placed]) -> None:
        for placement, obj in placed:
            self._sink.emit(placement, obj)

    def text(self, text: str) -> None:
        """Show a piece of the answer, as the model sent it."""
        self._emit(self._pipeline.text(text))

    def reasoning(self, text: str) -> None:
        """Show a piece of what the server itself marks as reasoning."""
        if self._is_untagged and text:
            self._is_untagged = False
            self.state.note_marked_reasoning()
        self._show_reasoning(self._pipeline.reasoning(text))

    def call(self, fragment: CallFragment) -> DeltaSink:
        """Show the written part of the model's first call; its further deltas go to the sink that is returned.

        Until calls_are_stored() nothing else is shown, and no checkpoint counts what readers see of the call.
        """
        if self.preview is None:
            self._emit(self._pipeline.flush())
            self._sink.hold()
            self.preview = CallPreview(fragment.id, fragment.name)
            self._send(self._blocks.tool_start(fragment.tab, fragment.id, fragment.name))
        self.preview.pieces.append(fragment.text)
        self._send(self._blocks.tool_writing(fragment.tab, fragment.text))
        return self._deferred

    def end_step(self) -> StepOutput:
        """End an inference and show text that was held back."""
        self._emit(self._pipeline.flush())
        self._separate_untagged_thinking()
        calls = self._pipeline.take_calls()
        self._reads_text_calls = self._reads_text_calls and not calls
        return self.break_off_step()._replace(calls=calls)

    def break_off_step(self) -> StepOutput:
        """End an inference that failed or was cancelled. Text that was held back is shown at the end."""
        texts, reasonings = self._step_begins_at
        written = "".join((*self._passage.reasonings[reasonings:], *self._passage.texts[texts:]))
        return StepOutput(written, self._passage.utterance, [])

    def _separate_untagged_thinking(self) -> None:
        """Save text before a closing tag without opening tag as reasoning; readers see that at the end of the run."""
        passage = self._passage
        if passage.reasonings or not (split := split_untagged("".join(passage.texts))):
            return
        reasoning, text = split
        passage.separate(reasoning, self._paragraphs.begin_again(text))
        self._step_begins_at = 0, 0
        self._is_untagged = True
        self.state.note_untagged_thinking()

    def calls_are_stored(self) -> None:
        """Note that the calls that readers see have rows, or will have them at the end of the run."""
        if self.preview:
            self.preview = None
            self._sink.release()

    def open_round(self, after_calls: Utterance = NOTHING_WRITTEN) -> None:
        """Open a passage: text since the previous round belongs to the round that starts, whatever its results.

        after_calls: what the passage begins with, and readers see already.
        """
        self._passage = self.state.open_passage()
        self._paragraphs.open_passage()
        if after_calls.text or after_calls.reasoning:
            self.continue_text(after_calls.text, after_calls.reasoning)
            self._paragraphs.open_passage()

    def end(self) -> None:
        """Show everything but the error and `stop`, which follow when the end has been committed."""
        self.end_step()
        self.show_deferred()
        self._send(self._blocks.close())

    def stop(self, reason: p.StopReason, error: p.Error | None = None, finish: Finish = WHOLE) -> None:
        if error:
            self._send(self._blocks.error(error.code, error.message, retryable=error.retryable))
        self._send(self._blocks.stop(reason, finish))

    def show_deferred(self) -> None:
        """Show the text that the model wrote after a call: the round is over, or waits for its user."""
        deltas, self._deferred = self._deferred.deltas, DeferredText()
        for delta in deltas:
            self.reasoning(delta.text) if isinstance(delta, Reasoning) else self.text(delta)
        if deltas:
            self._emit(self._pipeline.flush())
            self._paragraphs.open_passage()  # the model writes what follows in another inference

    def _emit(self, outputs: Iterable[Output]) -> None:
        """Turn the outputs of the pipeline into packets and saved text."""
        for output in outputs:
            if isinstance(output, str):
                self._show_text(output)
            elif isinstance(output, Reasoning):
                self._show_reasoning(output.text)
            elif not self._blocks.inside:
                self._send(self._blocks.citation(output))

    def _show_text(self, text: str) -> None:
        if text := self._room.fit("text", self._paragraphs.begin(text)):
            self._paragraphs.note(text)
            if not self._has_spoken:
                self._speak()
            self._passage.texts.append(text)
            self._send(self._blocks.message(text))

    def _show_reasoning(self, text: str) -> None:
        if text := self._room.fit("reasoning", text):
            if not self._has_spoken:
                self._speak()
            self._passage.reasonings.append(text)
            self._send(self._blocks.reasoning(text, self._reasoning_ms()))

    def _speak(self) -> None:
        self._has_spoken = True
        self.state.stamp_first_token(self._clock())

    def _reasoning_ms(self) -> int | None:
        """Measure how long the reasoning block, open or about to be, has been written. None inside an agent tool."""
        if self._blocks.inside:
            return None
        now = self._clock()
        if self._blocks.open != "reasoning":
            self._reasoning_since = now
            self._passage.open_reasoning()
        block_ms = round((now - self._reasoning_since) * 1000)
        self._passage.measure_reasoning(block_ms)
        return block_ms
