"""How far one streamed answer has been read: bytes in, deltas out, and whether more may come. Pure."""

from llm_worker.upstream.chunks import parse_chunk
from llm_worker.upstream.deltas import Delta, Finished, ModelFailed, ReasoningDelta, TextDelta, ToolCallDelta
from llm_worker.upstream.sse import EventSplitter, EventTooLong

DONE = b"[DONE]"
Said = (TextDelta, ReasoningDelta)
# Characters: well below what one packet takes, which would be cut in two.
ENOUGH = 4_000


class StreamReader:
    """chunks: how many were understood.  has_finished: the model gave a finish_reason, or the server said [DONE]."""

    def __init__(self) -> None:
        self.chunks = 0
        self.has_spoken = False
        self.has_finished = False
        self.is_done = False
        self.failure: ModelFailed | None = None
        self._splitter = EventSplitter()

    def take(self, received: bytes) -> list[Delta]:
        """What these bytes say, up to the first that cannot be understood: that one is left in `failure`.

        Short texts that follow each other are one delta.
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
        if isinstance(delta, Said):
            self.has_spoken = True
            latest = deltas[-1] if deltas else None
            if isinstance(latest, Said) and type(latest) is type(delta) and len(latest.text) < ENOUGH:
                deltas[-1] = type(delta)(latest.text + delta.text)
                return
        elif isinstance(delta, ToolCallDelta):
            self.has_spoken = True  # readers are shown it as it is written
        elif isinstance(delta, Finished):
            self.has_finished = True
        deltas.append(delta)
