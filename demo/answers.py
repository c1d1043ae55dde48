"""Builds the answers of the demo model, also to the questions that an empty page suggests. Pure.

A question is recognised by a word of any language of the page, and answered in its own.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from demo.texts.answer_texts import AnswerTexts
from demo.texts.languages import texts_for

TIME_TOOL: Final = "current_time"
# Of the MCP server of the trial (demo/notes.py), as chats list it.
NOTE_TOOL: Final = "notes__add_note"


class Scene(NamedTuple):
    """reasoning: shown as the model's thinking.  tool: the one that is called if it is offered, with these arguments (JSON).

    brief: what the other of the two models says instead.  cited: what is said with the handbook, whose number stands for `[#]`.
    """

    text: str
    reasoning: str = ""
    tool: str = ""
    arguments: str = "{}"
    brief: str = ""
    cited: str = ""

    def render(self, *, is_brief: bool, document: int | None) -> str:
        if self.cited and document is not None:
            return self.cited.replace("[#]", f"[{document}]")
        return self.brief if is_brief and self.brief else self.text


_CODE: Final = """\
```python
def tide(hours: float) -> float:
    \"\"\"Height of the water in metres, twice a day high and low.\"\"\"
    return 1.5 * math.cos(2 * math.pi * hours / 12.42)
```"""
_FORMULA: Final = r"$$h(t) = \sum_{i=1}^{n} A_i \cos\left(\frac{2 \pi t}{T_i} + \varphi_i\right)$$"
_CHAPTERS: Final = 24
_QUESTIONS: Final = (
    r"write .*note|\bnotiere?\b|\banota\b|\bnotez?\b|记下",
    r"rectangle|rechteck|rectángulo|矩形",
    r"\bformula|\bformel|\bfórmula|\bformule|公式",
    r"\bfog\b|nebel|niebla|brouillard|雾",
    r"coffee|kaffee|\bcafé\b|咖啡",
    r"lighthouse|leuchtturm|\bfaro\b|\bphare\b|灯塔",
    r"what time|spät|qué hora|quelle heure|几点",
)
_PATTERNS: Final = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _QUESTIONS)


def find_scene(question: str) -> Scene | None:
    """Return the scene of a question, in its language."""
    place = next((place for place, pattern in enumerate(_PATTERNS) if pattern.search(question)), None)
    return None if place is None else _scenes(texts_for(question))[place]


@cache
def _scenes(texts: AnswerTexts) -> tuple[Scene, ...]:
    """Return the scenes in the order of their questions."""
    note = json.dumps({"text": texts.note}, ensure_ascii=False)
    return (
        Scene(texts.without_notes, tool=NOTE_TOOL, arguments=note),
        Scene(texts.rectangles, texts.thought),
        Scene(texts.parts.replace("{code}", _CODE).replace("{formula}", _FORMULA)),
        Scene(texts.without_handbook, cited=texts.cited),
        Scene(texts.compared, brief=texts.compared_briefly),
        Scene(_story(texts)),
        Scene(texts.without_tool, tool=TIME_TOOL),
    )


def _story(texts: AnswerTexts) -> str:
    chapters = []
    for number in range(1, _CHAPTERS + 1):
        sentences = (texts.sentences[(number * step) % len(texts.sentences)] for step in (1, 5, 2, 4))
        chapters.append(f"**{texts.night.format(number=number)}** {' '.join(dict.fromkeys(sentences))}")
    return "\n\n".join([texts.advice, *chapters, texts.morning]) + "\n"


NAME = "demo"
BRIEF_NAME = "demo-brief"
READING_SPEED = 60.0
MOCK = re.compile(r"mock-(\d{1,6})x(\d{1,6})", re.ASCII)
HANDBOOK = re.compile(r'"document": (\d+), "title": "lighthouse\.md"')
QUOTED_CHARACTERS = 200
# Called if one of them is offered: a chat has documents. In this order.
SEARCH_TOOLS: Final = ("knowledge_base_search", "search_project")
LONGEST_QUERY = 400
SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])\s*|\n+")
# Longer words alone, which say what a text is about, and characters of scripts without spaces.
WORDS = re.compile(r"[^\W\d_]{4,}|[\u3040-\u9fff]")
# The worker appends the time of a message; it is not part of what the user wrote.
SUFFIX = re.compile(r"\s*<sent_at>[^<]*</sent_at>\s*$")


@dataclass(frozen=True)
class DemoAnswer:
    """Pieces of text to stream and their rate; a rate of 0 means as fast as possible.

    reasoning: pieces that come before.  tool: the name of one that is called instead, with these arguments (JSON).
    """

    pieces: tuple[str, ...]
    pieces_per_s: float
    reasoning: tuple[str, ...] = ()
    tool: str = ""
    arguments: str = "{}"

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Offered(NamedTuple):
    """What a request has beside its question.

    tools: their names.  result: of the call before, if the request ends with one.  document: the number of the handbook.
    """

    tools: Collection[str] = ()
    result: str | None = None
    document: int | None = None


NOTHING: Final = Offered()


def build_answer(model: str, question: str, offered: Offered = NOTHING) -> DemoAnswer:
    """Return N pieces at R per second for the model `mock-<N>x<R>`, otherwise a scene or the guide."""
    mock = MOCK.fullmatch(model)
    if mock:
        count, per_s = (int(number) for number in mock.groups())
        return DemoAnswer(tuple(create_pieces(count)), float(per_s))
    texts = texts_for(question)
    if offered.result is not None:
        said = quote_found(question, offered.result) or texts.told.format(result=offered.result.strip())
        return DemoAnswer(split_words(said), READING_SPEED)
    if scene := find_scene(question):
        if scene.tool and scene.tool in offered.tools:
            return DemoAnswer((), READING_SPEED, tool=scene.tool, arguments=scene.arguments)
        text = scene.render(is_brief=model == BRIEF_NAME, document=offered.document)
        return DemoAnswer(split_words(text), READING_SPEED, split_words(scene.reasoning))
    if tool := next((name for name in SEARCH_TOOLS if name in offered.tools), ""):
        query = json.dumps({"query": SUFFIX.sub("", question)[:LONGEST_QUERY]}, ensure_ascii=False)
        return DemoAnswer((), READING_SPEED, tool=tool, arguments=query)
    asked = quote_question(question)
    quote = texts.quoted.format(question=asked) if asked else ""
    return DemoAnswer(split_words(texts.guide.format(quote=quote)), READING_SPEED)


def quote_found(question: str, result: str) -> str:
    """Return the sentence of the found documents that has most words of the question, cited by its number.

    Empty if the result is not that of a search.
    """
    try:
        documents = json.loads(result)["documents"]
        found = [
            (one["document"], sentence)
            for one in documents
            for sentence in SENTENCE_ENDS.split(one["contents"])
        ]
    except (ValueError, TypeError, KeyError):
        return ""
    texts = texts_for(question)
    if not found:
        return texts.nothing_found
    asked = set(WORDS.findall(question.casefold()))
    number, sentence = max(found, key=lambda each: len(asked & set(WORDS.findall(each[1].casefold()))))
    return texts.found.format(sentence=quote_question(sentence), number=number)


def split_words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\S*\s*", text)[:-1])


def create_pieces(count: int) -> Iterator[str]:
    for number in range(1, count + 1):
        yield f"word{number}" + ("\n\n" if number % 50 == 0 else " ")


def quote_question(question: str) -> str:
    """Return the question as one line of at most QUOTED_CHARACTERS, escaped for Markdown."""
    line = " ".join(SUFFIX.sub("", question).split())
    ending = "…" if len(line) > QUOTED_CHARACTERS else ""
    return re.sub(r"([\\`*_{}\[\]<>#|!~&])", r"\\\1", line[:QUOTED_CHARACTERS]) + ending


def find_latest_question(messages: list[dict[str, object]]) -> str:
    """Return the text of the newest user message, whose content may be a string or a list of parts.

    What stands behind a call and its result are reminders of the worker.
    """
    asked = messages[: _last_call(messages)] if find_result(messages) is not None else messages
    for message in reversed(asked):
        if message.get("role") == "user":
            content = message.get("content")
            parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
            return " ".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))
    return ""


def find_result(messages: list[dict[str, object]]) -> str | None:
    """Return the newest result of the call that the messages end with, reminders aside; None: they end otherwise."""
    newest = messages[_last_call(messages) + 1 :]
    results = [str(message.get("content") or "") for message in newest if message.get("role") == "tool"]
    return results[-1] if results else None


def _last_call(messages: list[dict[str, object]]) -> int:
    """Return where the newest message of a model is; -1: there is none."""
    return max((at for at, message in enumerate(messages) if message.get("role") == "assistant"), default=-1)


def find_document(messages: list[dict[str, object]]) -> int | None:
    """Return the number by which the handbook that comes with its question is cited; None: it was not sent."""
    shown = json.dumps(messages, ensure_ascii=False).replace("\\", "")
    numbers = HANDBOOK.findall(shown)
    return int(numbers[-1]) if numbers else None


def names_of_tools(tools: object) -> list[str]:
    """Return the names of the tools of a request."""
    listed = tools if isinstance(tools, list) else []
    functions = (each.get("function") for each in listed if isinstance(each, dict))
    return [str(each.get("name")) for each in functions if isinstance(each, dict)]
