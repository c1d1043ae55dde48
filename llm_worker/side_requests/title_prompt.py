"""Builds the request for a session title and extracts the title from the reply. Pure."""

import json
import re

from chat.transcript.plain_title import without_marks
from llm_worker.prompts import prompt
from llm_worker.request.model_message import LanguageModelInput, Message
from llm_worker.stream.sanitiser import clean
from llm_worker.stream.think_tags import without_reasoning

MAX_WORDS = 6
# For languages without spaces between words, and for models that do not stop.
MAX_CHARACTERS = 80
# The topic appears early in a conversation; more would only cost tokens.
QUESTION_CHARACTERS = 2_000
ANSWER_CHARACTERS = 1_000
_JSON = re.compile(r"\{.*\}", re.DOTALL)
_LABEL = re.compile(r"^(?:title|titel|titre|título|titolo)\s*[:\uff1a]\s*", re.IGNORECASE)
# Quotation marks, whitespace and markup around a title. A title may end with # and begin with a full stop.
_AROUND = " \t*_`\"'“”„‟‘’‚«»‹›「」『』《》"  # noqa: RUF001
_BEFORE = _AROUND + "#"
_AFTER = _AROUND + ".。．:"  # noqa: RUF001


def title_messages(question: str, answer: str) -> LanguageModelInput:
    """Build the messages, `S U`: the conversation's beginning as one text, so that the model does not continue it."""
    began = f"Question:\n{question[:QUESTION_CHARACTERS]}\n\nAnswer:\n{answer[:ANSWER_CHARACTERS]}\n\nTitle:"
    return [Message("S", prompt("title")), Message("U", began)]


def title_in(reply: str) -> str:
    """Extract the title from a reply: one line, at most MAX_WORDS words; empty if there is none."""
    text = without_reasoning(clean(reply))
    text = _in_json(text) or text
    lines = (line for line in map(_bare, text.splitlines()) if line)
    words = next(lines, "").split()
    return _bare(" ".join(words[:MAX_WORDS])[:MAX_CHARACTERS])


def _in_json(text: str) -> str:
    """Extract the title from a JSON object; empty if there is none."""
    found = _JSON.search(text)
    try:
        read = json.loads(found[0], strict=False) if found else None
    except (ValueError, RecursionError):
        return ""
    titles = (
        [value for name, value in read.items() if name.lower() == "title"] if isinstance(read, dict) else []
    )
    return next((title for title in titles if isinstance(title, str)), "")


def _bare(line: str) -> str:
    return _LABEL.sub("", without_marks(line).lstrip(_BEFORE)).lstrip(_AROUND).rstrip(_AFTER)
