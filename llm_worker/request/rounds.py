"""Renders the tool rounds of the current turn, with long responses truncated to the room that is left. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Self

from chat.transcript.entries import Round
from llm_worker.request.message_renderer import MessageRenderer, drop_unanswered_calls
from llm_worker.request.model_message import TOKENS_PER_MESSAGE, Message, total_tokens
from llm_worker.request.truncation import token_limits, truncate

# The share of the room for a round that its images may use; further images are only named.
IMAGES_SHARE = Fraction(3, 4)


@dataclass(frozen=True, slots=True)
class CurrentRounds:
    """The rendered tool rounds of this turn. truncated: ids of the calls whose responses are truncated."""

    messages: list[Message]
    truncated: tuple[str, ...]

    @classmethod
    def render(
        cls, rounds: Sequence[Round], room: int, renderer: MessageRenderer, *, whole: int | None = None
    ) -> Self:
        """Render the rounds. Each depends only on earlier rounds, so that every later cycle renders it the same.

        whole: how many of the rounds have room; None: all.
        """
        messages: list[Message] = []
        truncated: list[str] = []
        for number, each in enumerate(drop_unanswered_calls(rounds)[0]):
            room = 0 if number == whole else room
            asked = renderer.render_calls(each)
            sizes = [renderer.tokens_of(call.response, 0) for call in each.calls]
            images = renderer.render_tool_images(each, floor(room * IMAGES_SHARE))
            room -= asked.tokens + TOKENS_PER_MESSAGE * len(sizes) + total_tokens(images)
            limits = token_limits(sizes, room)
            responses = [
                truncate(call.response, limit, renderer.tokens_of)
                for call, limit in zip(each.calls, limits, strict=True)
            ]
            room -= sum(tokens for _text, tokens in responses)
            messages += [asked, *renderer.render_responses(each, responses), *images]
            truncated += [
                call.id for call, size, limit in zip(each.calls, sizes, limits, strict=True) if limit < size
            ]
        return cls(messages, tuple(truncated))

    @property
    def tokens(self) -> int:
        return total_tokens(self.messages)
