"""The tool rounds of the turn that is being answered: in full, or as much of each response as there is room for. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from chat.transcript.entries import Round
from llm_worker.request.message import TOKENS_PER_MESSAGE, Message, total
from llm_worker.request.message_renderer import Replay, answered
from llm_worker.request.truncation import allowances, shorten


@dataclass(frozen=True, slots=True)
class ShownRounds:
    """shortened: ids of the calls whose responses are not whole."""

    messages: list[Message]
    shortened: tuple[str, ...]

    @classmethod
    def of(cls, rounds: Sequence[Round], room: int, replay: Replay) -> Self:
        """Each round depends on those before it alone, so that it looks the same in every later cycle."""
        messages: list[Message] = []
        shortened: list[str] = []
        for each in answered(rounds)[0]:
            asked = replay.calls(each)
            sizes = [replay.tokens_of(call.response, 0) for call in each.calls]
            room -= asked.tokens + TOKENS_PER_MESSAGE * len(sizes)
            limits = allowances(sizes, room)
            responses = [
                shorten(call.response, limit, replay.tokens_of)
                for call, limit in zip(each.calls, limits, strict=True)
            ]
            room -= sum(tokens for _text, tokens in responses)
            messages += [asked, *replay.results(each, responses)]
            shortened += [
                call.id for call, size, limit in zip(each.calls, sizes, limits, strict=True) if limit < size
            ]
        return cls(messages, tuple(shortened))

    @property
    def tokens(self) -> int:
        return total(self.messages)
