"""How far one streamed answer has been read: bytes in, deltas out, and whether more may come. Pure."""

from llm_worker.chunks import deltas_of
from llm_worker.deltas import Delta, Finished, ModelFailed
from llm_worker.sse import EventTooLong, Splitter

DONE = b"[DONE]"


class Reading:
    """chunks: how many were understood.  has_finished: the model gave a finish_reason, or the server said [DONE]."""

    def __init__(self) -> None:
        self.chunks = 0
        self.has_finished = False
        self.is_done = False
        self.failure: ModelFailed | None = None
        self._splitter = Splitter()

    def take(self, received: bytes) -> list[Delta]:
        """What these bytes say, up to the first that cannot be understood: that one is left in `failure`."""
        deltas: list[Delta] = []
        try:
            for event in self._splitter.feed(received):
                if event == DONE:
                    self.is_done = self.has_finished = True
                    break
                deltas += deltas_of(event)
                self.chunks += 1
        except EventTooLong as error:
            self.failure = ModelFailed("upstream_malformed", str(error))
        except ModelFailed as error:
            self.failure = error
        self.has_finished = self.has_finished or any(type(delta) is Finished for delta in deltas)
        return deltas
