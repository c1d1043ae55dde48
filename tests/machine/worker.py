"""The in-memory state of one attempt in a worker process: its text and the tool call that is being streamed."""

from typing import Final

from chat.log.producer import PacketProducer
from chat.protocol import wire as p

HERE: Final = p.Placement()


class Worker:
    """One attempt: its producer, its text, and whether it has committed or must stop."""

    def __init__(self, attempt: int, producer: PacketProducer, text: str = "") -> None:
        self.attempt = attempt
        self.producer = producer
        self.text = text
        self.calls = 0
        self.is_writing = False  # a call that is not stored yet
        self.has_committed = False
        self.must_stop = False

    @property
    def may_emit(self) -> bool:
        return not self.has_committed and not self.must_stop

    @property
    def call(self) -> str:
        """The id of the latest call."""
        return f"call_{self.calls}@{self.attempt}"

    def write(self, text: str) -> None:
        if not self.is_writing:
            self.is_writing = True
            self.calls += 1
            self.producer.hold()
            self.producer.emit(HERE, p.ToolStart(self.call, "act"))
        self.producer.emit(HERE, p.ToolArgumentsDelta(self.call, text))

    def end_writing(self) -> None:
        if self.is_writing:
            self.is_writing = False
            self.producer.release()
            self.producer.emit(HERE, p.ToolArguments(self.call, {}))
            self.producer.emit(HERE, p.SectionEnd(self.call))
