"""What the demo model answers to the questions that an empty page suggests, so that a newcomer sees the parts of an answer. Pure.

A question is recognised by a word of any language of the page.
"""

import re
from typing import Final, NamedTuple

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


_THOUGHT: Final = """\
A rectangle in the grid is fixed by two of its four vertical lines and two of its four horizontal lines. \
There are 6 ways to choose two of four lines: 4 · 3 / 2. So there are 6 · 6 rectangles. \
Check with a 1 by 1 grid: two lines each way, one choice each, one rectangle. Right. \
And a 2 by 2 grid: 3 · 3 = 9, which is four small ones, four of two squares, and the whole. Right.
"""
_RECTANGLES: Final = """\
There are **36 rectangles** in a 3 by 3 grid, squares among them.

Each is fixed by two of the four vertical lines and two of the four horizontal ones:

$$\\binom{4}{2} \\cdot \\binom{4}{2} = 6 \\cdot 6 = 36$$

What I "thought" stands folded above this answer. It was written beforehand, as all I say: I am a demo.
"""
_PARTS: Final = """\
A function, with its language and a button that copies it:

```python
def tide(hours: float) -> float:
    \"\"\"Height of the water in metres, twice a day high and low.\"\"\"
    return 1.5 * math.cos(2 * math.pi * hours / 12.42)
```

A table of rough numbers, which scrolls by itself where it is too wide:

| place | high water | low water | range |
|:--|--:|--:|--:|
| Husum | 3.5 m | 0.2 m | 3.3 m |
| Brest | 6.1 m | 1.4 m | 4.7 m |
| Saint John | 8.2 m | 0.6 m | 7.6 m |

And a formula, as text that is drawn here without any server:

$$h(t) = \\sum_{i=1}^{n} A_i \\cos\\left(\\frac{2 \\pi t}{T_i} + \\varphi_i\\right)$$
"""
_SENTENCES: Final = (
    "The keeper climbed the stairs, as on every evening, and counted them although he knew how many there were.",
    "Below, the water came in without a sound and took the path across the flats, stone by stone.",
    "He wrote the hour into the book, then the wind, then what he had seen, which was little.",
    "A ship went by far out; its lights said that it was in no hurry.",
    "In the kitchen the radio spoke of weather that would arrive on the following day, or perhaps not.",
    "He turned the lamp by hand for a while, because the motor had stopped, and because he liked to.",
)
_CHAPTERS: Final = 24


def _story() -> str:
    chapters = []
    for number in range(1, _CHAPTERS + 1):
        sentences = (_SENTENCES[(number * step) % len(_SENTENCES)] for step in (1, 5, 2, 4))
        chapters.append(f"**Night {number}.** {' '.join(dict.fromkeys(sentences))}")
    advice = "_Stop me at any time, or reload the page: what was written stays, and the answer goes on where it is._"
    return "\n\n".join([advice, *chapters, "And then it was morning."]) + "\n"


_COMPARED: Final = """\
Both come from plants that grow where it is warm, and both keep people awake. They differ in nearly all else:

| | tea | coffee |
|:--|:--|:--|
| from | leaves of *Camellia sinensis* | seeds of *Coffea* |
| caffeine in a cup | some 40 mg | some 90 mg |
| water | 70 to 95 °C | 90 to 96 °C |
| time | two to five minutes | half a minute to four |

**Tea** forgives water that is not quite right, and gives a second cup from the same leaves. **Coffee** wants fresh beans, \
a scale and some patience.

The other model of this trial answers the same question beside me. Choose one of the answers to go on with it.
"""
_COMPARED_BRIEFLY: Final = """\
Tea: leaves, milder, about 40 mg of caffeine in a cup. Coffee: seeds, stronger, about 90 mg.

In the morning coffee, in the evening neither.
"""
_CITED: Final = """\
The handbook has three rules for fog:

1. The horn is sounded **as soon as the outer beacon is out of sight**, by day as by night [#].
2. One blast of four seconds each minute; the keeper on watch writes down when the first and the last one sounded [#].
3. Should the compressor fail, the bell is rung by hand, five strokes each minute, until it works again [#].

The number behind a statement leads to the document it was taken from: click on it.
"""
_WITHOUT_HANDBOOK: Final = """\
I know one document alone: the handbook that comes with the suggestion on an empty page. Begin a new chat and choose \
the question about fog there: I answer from the handbook, and cite it.
"""
_WITHOUT_TOOL: Final = """\
I would ask the tool `current_time`, but it is not switched on in this chat. Open the options beside the model's name, \
check **Date and time**, and ask me again: you will see the call, its arguments and what came back.
"""
_WITHOUT_NOTES: Final = """\
I would write that down with the tool `add_note` of the server **notes**, but it is not switched on in this chat. Open the options \
beside the model's name, check **notes: all tools**, and ask me again: the call waits until you allow it, change it or refuse it.
"""
_NOTE: Final = '{"text": "The lamp of the lighthouse needs oil."}'
_SCENES: Final = (
    (
        re.compile(r"write .*note|\bnotiere?\b|\banota\b|\bnotez?\b|记下", re.IGNORECASE),
        Scene(_WITHOUT_NOTES, tool=NOTE_TOOL, arguments=_NOTE),
    ),
    (re.compile(r"rectangle|rechteck|rectángulo|矩形", re.IGNORECASE), Scene(_RECTANGLES, _THOUGHT)),
    (re.compile(r"\bformula|\bformel|\bfórmula|\bformule|公式", re.IGNORECASE), Scene(_PARTS)),
    (
        re.compile(r"\bfog\b|nebel|niebla|brouillard|雾", re.IGNORECASE),
        Scene(_WITHOUT_HANDBOOK, cited=_CITED),
    ),
    (re.compile(r"coffee|kaffee|\bcafé\b|咖啡", re.IGNORECASE), Scene(_COMPARED, brief=_COMPARED_BRIEFLY)),
    (re.compile(r"lighthouse|leuchtturm|\bfaro\b|\bphare\b|灯塔", re.IGNORECASE), Scene(_story())),
    (
        re.compile(r"what time|spät|qué hora|quelle heure|几点", re.IGNORECASE),
        Scene(_WITHOUT_TOOL, tool=TIME_TOOL),
    ),
)


def find_scene(question: str) -> Scene | None:
    return next((scene for pattern, scene in _SCENES if pattern.search(question)), None)
