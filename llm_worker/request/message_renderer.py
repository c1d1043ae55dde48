"""Renders entries, blocks and tool rounds as messages with their token counts. Pure.

Does not decide which of them are sent: context.py does.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from typing import Any

from chat.transcript.entries import Block, BlockKind, Call, Entry, Image, Round
from chat.transcript.readable_text import join_passages, without_break
from chat.transcript.tokens import (
    OMITTED_RESPONSE_TOKENS,
    SENT_AT_TOKENS,
    TOKENS_PER_CALL,
    TOKENS_PER_MESSAGE,
    picture_tokens,
)
from llm_worker.request.model_message import Letter, Message, TokenCounter, call_text
from llm_worker.request.numbered_documents import render_provided

# Replaces every tool response in later turns.
OMITTED_RESPONSE = "[The response of this call is no longer available.]"

BLOCKS: tuple[BlockKind, ...] = ("CA", "P", "D")


def with_sent_at(text: str, sent_at: datetime) -> str:
    """Append the minute at which the text was sent (UTC). The result is byte-identical in every later turn.
    A message of files alone has no text.
    """
    sent = f"<sent_at>{sent_at:%Y-%m-%d %H:%M} UTC</sent_at>"
    return f"{text}\n\n{sent}" if text else sent


@dataclass(frozen=True, slots=True)
class MessageRenderer:
    """Renders for one model. tokens_of: its counter.  sees_images: otherwise placeholders replace images.

    source: of the model; the rounds of this source are sent with the members that it wants back.
    """

    tokens_of: TokenCounter
    sees_images: bool = True
    source: str = ""

    def render_text(self, letter: Letter, text: str, stored: int = 0) -> Message:
        return Message(letter, text, tokens=self.tokens_of(text, stored) + TOKENS_PER_MESSAGE)

    def render_lines(self, letter: Letter, lines: Sequence[str]) -> Message:
        """Render the lines, counted one by one: with a memoizing counter, a growing list costs only its new lines."""
        tokens = sum(self.tokens_of(f"{line}\n", 0) for line in lines)
        return Message(letter, "\n".join(lines), tokens=tokens + TOKENS_PER_MESSAGE)

    def render_user(self, entry: Entry) -> Message:
        text = entry.text
        images = tuple(image for image in entry.images if self.sees_images and image.url)
        tokens = self.tokens_of(text, entry.token_count) if text else 0
        if lines := "\n".join(image_lines(entry.images, images)):
            tokens += self.tokens_of(lines, 0)
            text = f"{text}\n\n{lines}" if text else lines
        tokens += SENT_AT_TOKENS + TOKENS_PER_MESSAGE + _tokens_of_images(images)
        return Message("U", with_sent_at(text, entry.sent_at), images=images, tokens=tokens)

    def with_images(self, message: Message, images: tuple[Image, ...]) -> Message:
        return replace(message, images=images, tokens=message.tokens + _tokens_of_images(images))

    def render_files(self, entry: Entry) -> Message:
        """Render all text files of a user message in one message."""
        text = render_provided([file.document for file in entry.files])
        return self.render_text("F", text, _stored_tokens(entry, text))

    def render_blocks(self, entry: Entry) -> list[Message]:
        """Render the blocks stored above a user message, in send order."""
        return [
            self.render_block(block)
            for kind in BLOCKS
            for block in entry.blocks
            if block.kind == kind and block.text
        ]

    def render_block(self, block: Block) -> Message:
        return self.render_text(block.kind, block.text, block.token_count)

    def render_answer(self, entry: Entry) -> list[tuple[Message, ...]]:
        """Return groups of messages that stay together, oldest first: each round of answered calls, then the text."""
        narrated, rest = _split_narration(entry)
        rounds, rest = drop_unanswered_calls(narrated, rest)
        per_character = entry.token_count / len(entry.text) if entry.text else 0
        groups = [self.render_past_round(each, per_character) for each in rounds]
        if rest.strip():
            groups.append((self.render_text("A", rest, _part(rest, per_character)),))
        return groups

    def render_past_round(self, each: Round, per_character: float) -> tuple[Message, ...]:
        """Render a round of an earlier turn: its calls, each with OMITTED_RESPONSE, or what the caller gave."""
        responses = [
            (call.response, self.tokens_of(call.response, 0))
            if call.is_given
            else (OMITTED_RESPONSE, OMITTED_RESPONSE_TOKENS)
            for call in each.calls
        ]
        calls, images = self.render_calls(each, per_character), self.render_tool_images(each)
        return (calls, *self.render_responses(each, responses), *images)

    def render_tool_images(self, each: Round, room: int | None = None) -> list[Message]:
        """Render as many images of a round as fit into `room` tokens in one message; without images, no message.

        room: None means all images. The message follows the responses, because many servers accept only text in these.
        """
        images = [image for call in each.calls for image in call.images if image.url]
        if not images or not self.sees_images:
            return []
        shown = images if room is None else [one for one, used in _with_sums(images) if used <= room]
        lines = "\n".join(tool_image_lines(shown, images[len(shown) :]))
        return [self.with_images(self.render_text("TI", lines), tuple(shown))]

    def render_calls(self, each: Round, per_character: float = 0) -> Message:
        text = without_break(each.text_before)
        tokens = self.tokens_of(text, _part(text, per_character)) if text else 0
        tokens += sum(self._call_tokens(call) for call in each.calls) + TOKENS_PER_MESSAGE
        asked = tuple(Call(call.id, call.name, call.arguments) for call in each.calls)
        members = self._wanted_members(each)
        if members:
            tokens += self.tokens_of(json.dumps(members, ensure_ascii=False), 0)
        return Message("TC", text, calls=asked, members=members, tokens=tokens)

    def _wanted_members(self, each: Round) -> dict[str, Any]:
        """Return the members of the message that its server wants back; empty for another model or server.
        The members of its calls are under `tool_calls`, by the ids of the calls.
        """
        back = each.sent_back
        if back is None or not self.source or back.source != self.source:
            return {}
        named = {back.reasoning_name: each.reasoning} if back.reasoning_name and each.reasoning else {}
        ids = {call.id for call in each.calls}
        calls = {call: members for call, members in back.calls.items() if call in ids}
        return {**named, **back.members, **({"tool_calls": calls} if calls else {})}

    def render_responses(self, each: Round, responses: Sequence[tuple[str, int]]) -> Iterator[Message]:
        """Render the responses of a round. responses: one (text, tokens) for each call."""
        for call, (text, tokens) in zip(each.calls, responses, strict=True):
            yield Message("TR", text, tool_call_id=call.id, tokens=tokens + TOKENS_PER_MESSAGE)

    def _call_tokens(self, call: Call) -> int:
        text = call_text(call.name, call.arguments)
        return self.tokens_of(text, call.token_count) + TOKENS_PER_CALL


def _tokens_of_images(images: Sequence[Image]) -> int:
    return sum(picture_tokens(image.width_px, image.height_px) for image in images)


def _with_sums(images: Sequence[Image]) -> Iterator[tuple[Image, int]]:
    """Pair each image with the tokens of all images up to and including it."""
    tokens = (picture_tokens(image.width_px, image.height_px) for image in images)
    return zip(images, accumulate(tokens), strict=True)


def drop_unanswered_calls(rounds: Sequence[Round], rest: str = "") -> tuple[list[Round], str]:
    """Return the rounds without the calls that have no response, and the text.
    The text before a round that is dropped joins the text that follows.
    """
    kept: list[Round] = []
    before: list[str] = []
    for each in rounds:
        before.append(each.text_before)
        calls = tuple(call for call in each.calls if call.response)
        if calls:
            is_whole = len(calls) == len(each.calls) and len(before) == 1
            kept.append(each if is_whole else replace(each, calls=calls, text_before=join_passages(before)))
            before = []
    return kept, join_passages([*before, rest]) if before else rest


def _split_narration(entry: Entry) -> tuple[Sequence[Round], str]:
    """Return the rounds and the text after them, so that no text that a reader saw is repeated or lost."""
    narration = "".join(each.text_before for each in entry.rounds)
    if entry.text.startswith(narration):
        return entry.rounds, without_break(entry.text[len(narration) :])
    return [replace(each, text_before="") for each in entry.rounds], entry.text


def _part(text: str, per_character: float) -> int:
    """Return the share of a stored token count for a part of its text, rounded up; 0 if no count is stored."""
    return -int(-len(text) * per_character // 1)


def _stored_tokens(entry: Entry, rendered: str) -> int:
    """Sum the stored counts of the files, plus one token per character that JSON adds; 0 if a count is unknown."""
    if not all(file.token_count for file in entry.files):
        return 0
    contents = sum(len(file.document.contents) for file in entry.files)
    return sum(file.token_count for file in entry.files) + len(rendered) - contents


def image_placeholder(image: Image) -> str:
    """Return the placeholder of an image that is not sent, on one line: whitespace in its name is collapsed."""
    reason = "this model cannot see images" if image.url else "its content cannot be read"
    return f"[Image left out, {reason}: {' '.join(image.name.split())}]"


def describe_images(returned: int, stored: int, *, sees_images: bool) -> str:
    """Return the note of a call's response on returned images that the model is not shown; empty if it is shown all."""
    if not sees_images:
        return "(This model cannot see images.)"
    return f"({returned - stored} of the {returned} images cannot be shown.)" if stored < returned else ""


def tool_image_lines(sent: Sequence[Image], left_out: Sequence[Image]) -> list[str]:
    """Return the lines of the message behind the responses of a round, which has the images that its calls returned."""
    lines = [f"[Images that the tools returned, in this order: {_names(sent)}]"] if sent else []
    return [*lines, *([f"[Images left out, no room: {_names(left_out)}]"] if left_out else [])]


def _names(images: Sequence[Image]) -> str:
    return "; ".join(" ".join(image.name.split()) for image in images)


def image_lines(images: Sequence[Image], sent: Sequence[Image]) -> list[str]:
    """Return the lines about the images of a message; those in `sent` are.

    Pages that are not sent have no placeholder: the text of their document says that it is incomplete.
    """
    lines = [image_placeholder(image) for image in images if image not in sent and not image.page]
    if pages := [image for image in sent if image.page]:
        lines.append(f"[Pages shown as pictures, in this order: {_names(pages)}]")
    return lines
