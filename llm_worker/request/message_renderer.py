"""Entries and tool rounds as the messages that show them, each with its cost. Pure.

Knows what one message of the branch becomes; which of them are sent is context.py's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from chat.transcript.entries import Block, BlockKind, Call, Entry, Round
from llm_worker.request.documents import render
from llm_worker.request.images import image_placeholder, image_tokens
from llm_worker.request.message import (
    TOKENS_PER_CALL,
    TOKENS_PER_MESSAGE,
    Letter,
    Message,
    TokenCounter,
    call_text,
)

# The date suffix in the default encoding.
SENT_AT_TOKENS = 20
# What a later turn sees of every tool response.
OMITTED_RESPONSE = "[The response of this call is no longer available.]"
OMITTED_RESPONSE_TOKENS = 11

BLOCKS: tuple[BlockKind, ...] = ("CA", "P", "D")


def with_sent_at(text: str, sent_at: datetime) -> str:
    """A user message with the minute it was sent (UTC), the same in every later turn."""
    return f"{text}\n\n<sent_at>{sent_at:%Y-%m-%d %H:%M} UTC</sent_at>"


@dataclass(frozen=True, slots=True)
class MessageRenderer:
    """How messages look to one model: how it counts, and whether it sees pictures."""

    tokens_of: TokenCounter
    sees_images: bool = True

    def render_text(self, letter: Letter, text: str, stored: int = 0) -> Message:
        return Message(letter, text, tokens=self.tokens_of(text, stored) + TOKENS_PER_MESSAGE)

    def render_lines(self, letter: Letter, lines: Sequence[str]) -> Message:
        """Counted line by line, so that a list which changes costs only what is new in it."""
        tokens = sum(self.tokens_of(f"{line}\n", 0) for line in lines)
        return Message(letter, "\n".join(lines), tokens=tokens + TOKENS_PER_MESSAGE)

    def render_user(self, entry: Entry) -> Message:
        text, images = entry.text, entry.images
        tokens = self.tokens_of(text, entry.token_count) if text else 0
        if images and not self.sees_images:
            lines = "\n".join(image_placeholder(image) for image in images)
            tokens += self.tokens_of(lines, 0)
            text, images = f"{text}\n\n{lines}" if text else lines, ()
        tokens += SENT_AT_TOKENS + TOKENS_PER_MESSAGE + sum(image_tokens(image) for image in images)
        return Message("U", with_sent_at(text, entry.sent_at), images=images, tokens=tokens)

    def render_files(self, entry: Entry) -> Message:
        """All text files of a user message in one."""
        text = render([file.document for file in entry.files])
        return self.render_text("F", text, _stored_tokens(entry, text))

    def render_blocks(self, entry: Entry) -> list[Message]:
        """Those stored above a user message, in the order in which they stand there."""
        return [
            self.render_block(block)
            for kind in BLOCKS
            for block in entry.blocks
            if block.kind == kind and block.text
        ]

    def render_block(self, block: Block) -> Message:
        return self.render_text(block.kind, block.text, block.token_count)

    def render_answer(self, entry: Entry) -> list[tuple[Message, ...]]:
        """What goes together, oldest first: the answered calls of each round with their responses, then the text."""
        narrated, rest = _told(entry)
        rounds, rest = drop_unanswered_calls(narrated, rest)
        per_character = entry.token_count / len(entry.text) if entry.text else 0
        groups = [self.render_past_round(each, per_character) for each in rounds]
        if rest.strip():
            groups.append((self.render_text("A", rest, _part(rest, per_character)),))
        return groups

    def render_past_round(self, each: Round, per_character: float) -> tuple[Message, ...]:
        """A round of an earlier turn: its calls, and of each response that it is gone."""
        gone = [(OMITTED_RESPONSE, OMITTED_RESPONSE_TOKENS)] * len(each.calls)
        return (self.render_calls(each, per_character), *self.render_responses(each, gone))

    def render_calls(self, each: Round, per_character: float = 0) -> Message:
        text = each.text_before
        tokens = self.tokens_of(text, _part(text, per_character)) if text else 0
        tokens += sum(self._call_tokens(call) for call in each.calls) + TOKENS_PER_MESSAGE
        asked = tuple(Call(call.id, call.name, call.arguments) for call in each.calls)
        return Message("TC", text, calls=asked, tokens=tokens)

    def render_responses(self, each: Round, responses: Sequence[tuple[str, int]]) -> Iterator[Message]:
        """responses: as they are shown, with their tokens, one for each call."""
        for call, (text, tokens) in zip(each.calls, responses, strict=True):
            yield Message("TR", text, tool_call_id=call.id, tokens=tokens + TOKENS_PER_MESSAGE)

    def _call_tokens(self, call: Call) -> int:
        text = call_text(call.name, call.arguments)
        return self.tokens_of(text, call.token_count) + TOKENS_PER_CALL


def drop_unanswered_calls(rounds: Sequence[Round], rest: str = "") -> tuple[list[Round], str]:
    """Without the calls that got no response. What was written before a round of such alone joins what follows it."""
    kept, before = [], ""
    for each in rounds:
        before += each.text_before
        calls = tuple(call for call in each.calls if call.response)
        if calls:
            is_whole = len(calls) == len(each.calls) and before == each.text_before
            kept.append(each if is_whole else replace(each, calls=calls, text_before=before))
            before = ""
    return kept, before + rest


def _told(entry: Entry) -> tuple[Sequence[Round], str]:
    """The rounds and what of the text comes after them; nothing a reader saw is said twice or lost."""
    narration = "".join(each.text_before for each in entry.rounds)
    if entry.text.startswith(narration):
        return entry.rounds, entry.text[len(narration) :]
    return [replace(each, text_before="") for each in entry.rounds], entry.text


def _part(text: str, per_character: float) -> int:
    """Of a stored count, what falls to a part of its text; 0 if nothing is stored. Rounded up."""
    return -int(-len(text) * per_character // 1)


def _stored_tokens(entry: Entry, rendered: str) -> int:
    """From the counts of the files' contents; 0 if one is unknown. What JSON adds to them counts by its characters."""
    if not all(file.token_count for file in entry.files):
        return 0
    contents = sum(len(file.document.contents) for file in entry.files)
    return sum(file.token_count for file in entry.files) + len(rendered) - contents
