"""Reads one streamed answer: bytes in, deltas out, and whether the answer is complete. Pure."""

from llm_worker.upstream.chunks import parse_chunk
from llm_worker.upstream.deltas import Delta, Finished, ModelFailed, ReasoningDelta, TextDelta, ToolCallDelta
from llm_worker.upstream.sse import EventSplitter, EventTooLong

DONE = b"[DONE]"
TEXT_DELTAS = (TextDelta, ReasoningDelta)
# Characters up to which deltas are merged: well below the size at which a packet would be split.
MERGED_CHARACTERS = 4_000


class StreamReader:
    """chunks: the number parsed.  has_finished: a finish_reason or [DONE] was received."""

    def __init__(self) -> None:
        self.chunks = 0
        self.has_spoken = False
        self.has_finished = False
        self.is_done = False
        self.failure: ModelFailed | None = None
        self._splitter = EventSplitter()

    def take(self, received: bytes) -> list[Delta]:
        """The deltas in these bytes, up to the first invalid chunk, whose error is kept in `failure`.

        Consecutive short texts are merged into one delta.
        """
        deltas: list[Delta] = []
        try:
            for event in self._splitter.feed(received):
                if event == DONE:
                    self.is_done = self.has_finished = True
                    break
                for delta in parse_chunk(event):
                    self._add(deltas, delta)
                self.chunks += 1
        except EventTooLong as error:
            self.failure = ModelFailed("upstream_malformed", str(error))
        except ModelFailed as error:
            self.failure = error
        return deltas

    def _add(self, deltas: list[Delta], delta: Delta) -> None:
        if isinstance(delta, TEXT_DELTAS):
            self.has_spoken = True
            latest = deltas[-1] if deltas else None
            if (
                isinstance(latest, TEXT_DELTAS)
                and type(latest) is type(delta)
                and len(latest.text) < MERGED_CHARACTERS
            ):
                deltas[-1] = type(delta)(latest.text + delta.text)
                return
        elif isinstance(delta, ToolCallDelta):
            self.has_spoken = True  # calls are shown while they are written
        elif isinstance(delta, Finished):
            self.has_finished = True
        deltas.append(delta)
