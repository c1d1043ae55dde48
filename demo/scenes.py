"""What the demo model answers to the questions that an empty page suggests, so that a newcomer sees the parts of an answer. Pure.

A question is recognised by a word of any language of the page, and answered in its own.
"""

import json
import re
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
