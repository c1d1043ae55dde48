"""Rewrites a request for servers that demand alternating roles, as chat templates of Mistral and Gemma do. Pure.

Such a template refuses two user messages in a row, an assistant message first, an empty answer, and a user message
right behind a tool response. No text is left out; the budget is that of the messages before.
"""

from collections.abc import Sequence
from dataclasses import replace

from chat.transcript.tokens import TOKENS_PER_MESSAGE
from llm_worker.request.model_message import LanguageModelInput, Message

# Stands for the question of an answer that begins the request, because the question did not fit.
EARLIER = "[The beginning of the conversation is not shown.]"
# Stands for the answer of a turn that ended after its tool calls.
UNFINISHED = "[This answer was not finished.]"
# Stands between the responses of tools and the images that these returned.
IMAGES_FOLLOW = "[The images that the tools returned follow.]"
# Of each placeholder, with the server's overhead.
PLACEHOLDER_TOKENS = 16

SEPARATOR = "\n\n"
SEPARATOR_TOKENS = 1


def alternate_roles(messages: LanguageModelInput) -> list[Message]:
    """Return messages with user and assistant in turn after an optional system message.
    Tool rounds precede the answer.
    """
    sent: list[Message] = []
    for message in messages:
        if message.role == "assistant" and not (message.text.strip() or message.calls):
            continue
        if placeholder := _needed_between(sent[-1:], message):
            sent.append(placeholder)
        if sent and _are_joined(sent[-1], message):
            sent[-1] = _joined(sent[-1], message)
        else:
            sent.append(message)
    return sent


def _needed_between(before: Sequence[Message], message: Message) -> Message | None:
    is_first = not before or before[0].role == "system"
    if is_first and message.role == "assistant":
        return Message("N", EARLIER, tokens=PLACEHOLDER_TOKENS)
    follows_response = not is_first and before[0].role == "tool"
    if follows_response and message.letter == "TI":
        return Message("A", IMAGES_FOLLOW, tokens=PLACEHOLDER_TOKENS)
    if follows_response and message.role == "user" and message.letter != "R":
        return Message("A", UNFINISHED, tokens=PLACEHOLDER_TOKENS)
    return None


def _are_joined(before: Message, message: Message) -> bool:
    if message.role == "user":
        # A reminder behind a round belongs to its last response: no user message may stand there.
        return before.role in ("user", "tool")
    return message.role == "assistant" and before.role == "assistant" and not before.calls


def _joined(before: Message, message: Message) -> Message:
    keeps = message if message.calls else before
    return replace(
        keeps,
        letter="U" if "U" in (before.letter, message.letter) else keeps.letter,
        text=SEPARATOR.join(filter(None, (before.text, message.text))),
        images=(*before.images, *message.images),
        tokens=before.tokens + message.tokens - TOKENS_PER_MESSAGE + SEPARATOR_TOKENS,
        joined=(*before.letters, *message.letters),
    )
