"""The ask_user tool: asks the user up to four questions in one form, and waits for the answer without a worker.

Its calls never run: the answer is their result (llm_worker/loop/calls.py). Agent tools do not have it, since calls
inside them cannot wait.
"""

from collections.abc import Mapping
from typing import Any, Final

from chat.transcript.questions import FormInvalid, Question, read_form
from llm_worker.tools.ask_user import CARD
from llm_worker.tools.tool import Tool, ToolContext, ToolFailed, ToolResult

MAX_QUESTIONS: Final = 4
MAX_OPTIONS: Final = 20
# The types of questions, and the JSON Schema types of their properties in the form.
_TYPES: Final = {
    "text": "string",
    "number": "number",
    "yes_no": "boolean",
    "choice": "string",
    "choices": "array",
}
_CHOOSING: Final = ("choice", "choices")

_QUESTION: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 64,
            "description": "Short, different for each.",
        },
        "question": {"type": "string", "minLength": 1, "maxLength": 500},
        "type": {
            "type": "string",
            "enum": list(_TYPES),
            "description": "choice: one of the options. choices: any number of them.",
        },
        "options": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": 200},
            "minItems": 2,
            "maxItems": MAX_OPTIONS,
            "description": "Of a choice or choices.",
        },
        "required": {"type": "boolean", "description": "Whether it has to be answered. Left out: true."},
        "default": {"description": "What the field holds at first, of the type of the answer."},
    },
    "required": ["name", "question", "type"],
}


class AskUser(Tool):
    name = CARD.name
    description = f"Asks the user up to {MAX_QUESTIONS} questions in one form and waits for the answers."
    guidance = (
        "Call `ask_user` when you cannot go on without something that only the user knows, or when a decision is theirs. "
        "Put all that you need into one form, offer options where the answers are known, and do not ask what you can "
        "find out or what the user has said. Never ask for passwords or keys. If the user declines, go on without the answer or say what "
        "is missing; do not ask again."
    )
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "message": {
                "type": "string",
                "minLength": 1,
                "maxLength": 1_000,
                "description": "Why you ask, in one or two sentences, in the user's language.",
            },
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_QUESTIONS,
                "items": _QUESTION,
                "description": "In the order in which they are shown.",
            },
        },
        "required": ["message", "questions"],
    }

    def question(self, arguments: Mapping[str, Any]) -> Question:
        questions = arguments["questions"]
        names = [asked["name"] for asked in questions]
        if len(set(names)) < len(names):
            raise ToolFailed("Two questions have the same name.")
        form = {
            "type": "object",
            "properties": {asked["name"]: _property(asked) for asked in questions},
            "required": [asked["name"] for asked in questions if _is_required(asked)],
        }
        try:
            return Question(arguments["message"].strip(), read_form(form))
        except FormInvalid as error:
            raise ToolFailed(str(error)) from error

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:  # noqa: ARG002
        raise ToolFailed("The user cannot be asked here.")


TOOL: Tool = AskUser()


def _is_required(asked: Mapping[str, Any]) -> bool:
    return bool(asked.get("required", True))


def _property(asked: Mapping[str, Any]) -> dict[str, Any]:
    kind, options = asked["type"], asked.get("options")
    if (kind in _CHOOSING) != (options is not None):
        needs = "needs options" if kind in _CHOOSING else "has options, which only choice and choices have"
        raise ToolFailed(f"The question {asked['name']} {needs}.")
    made: dict[str, Any] = {"type": _TYPES[kind], "title": asked["question"].strip()}
    if kind == "choice":
        made["enum"] = options
    if kind == "choices":
        made |= {"items": {"type": "string", "enum": options}, "minItems": int(_is_required(asked))}
    if kind == "text" and _is_required(asked):
        made["minLength"] = 1
    # Some models write null for no default.
    return made | ({"default": asked["default"]} if asked.get("default") is not None else {})
