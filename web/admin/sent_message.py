"""A message of a request, for the admin."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SentMessage:
    """A message as it was sent. is_known: part of the prefix shared with the request before."""

    number: int
    letter: str
    noun: str
    tokens: int | None
    text: str
    calls: str
    is_known: bool = False

    @property
    def whole_text(self) -> str:
        return "\n".join(part for part in (self.text, self.calls) if part)
