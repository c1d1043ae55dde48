"""Joins the system prompt to the first question, for servers without a system role. Pure."""

from dataclasses import replace

from llm_worker.request.model_message import LanguageModelInput, Message

SEPARATOR = "\n\n"


def without_system_role(messages: LanguageModelInput) -> list[Message]:
    """Return the messages without the role "system"; the system text moves before the first user message."""
    prompts = [message.text for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    if not prompts:
        return others
    first = next((at for at, message in enumerate(others) if message.role == "user"), None)
    if first is None or first > 0:
        return [Message("U", SEPARATOR.join(prompts)), *others]
    joined = replace(others[0], text=SEPARATOR.join((*prompts, others[0].text)))
    return [joined, *others[1:]]
