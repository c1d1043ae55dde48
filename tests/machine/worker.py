"""One attempt in a process's memory: what it has said, and the call it is writing."""

from typing import Final

from chat.log.producer import PacketProducer
from chat.protocol import wire as p

HERE: Final = p.Placement()


class Worker:
    """One attempt in a process's memory."""

    def __init__(self, attempt: int, producer: PacketProducer, text: str = "") -> None:
        self.attempt = attempt
        self.producer = producer
        self.text = text
        self.calls = 0
        self.is_writing = False  # a call that no row knows
        self.has_committed = False
        self.must_stop = False

    @property
    def may_speak(self) -> bool:
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
