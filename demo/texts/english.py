"""What the demo model says in English."""

from typing import Final

from demo.texts.answer_texts import AnswerTexts, words_of

ENGLISH: Final = AnswerTexts(
    words=words_of(
        "the of and to is that for it with as on by this are be or what which how who when where why can you i my me tell show write "
        "compare does do did about in think aloud"
    ),
    guide="""\
**This is a trial**: no model is connected yet, and what I say was written beforehand. All around me is real: \
this answer was made in a worker process, streamed through Redis, and is stored in Postgres.

{quote}Ask me one of these, and you see what answers look like here:

- *How many rectangles are in a grid of 3 by 3?* shows what a model thinks before it answers.
- *What time is it?* calls a tool, once **Date and time** is checked in the options below the message.
- *Write a note* calls one that asks you first, once **All tools of notes** is checked there.
- *Show me code, a table and a formula* shows just that.
- *Any question* in a chat with a **knowledge base**, or with an agent that you gave files: I search them, and cite what I find.
- *Tell me a long story of a lighthouse* takes a minute: **stop** it, or reload the page while I write.

You can also **edit** your question, **regenerate** this answer, and look at the tree that both leave.

### Connect a model

Whoever runs this server connects one on this page, without a restart: in the menu under the own name, **Model providers**. \
Any server that speaks the OpenAI protocol will do.
""",
    quoted="You wrote:\n\n> {question}\n\n",
    found="""\
I searched the documents of this chat. This fits your question best:

> {sentence} [{number}]

I can only quote. A model that you connect reads what was found and answers in its own words; the number leads to the passage either way.
""",
    nothing_found="I searched the documents of this chat, and found nothing that fits.\n",
    told="The tool says: **{result}**\n",
    thought="""\
A rectangle in the grid is fixed by two of its four vertical lines and two of its four horizontal lines. \
There are 6 ways to choose two of four lines: 4 · 3 / 2. So there are 6 · 6 rectangles. \
Check with a 1 by 1 grid: two lines each way, one choice each, one rectangle. Right. \
And a 2 by 2 grid: 3 · 3 = 9, which is four small ones, four of two squares, and the whole. Right.
""",
    rectangles="""\
There are **36 rectangles** in a 3 by 3 grid, squares among them.

Each is fixed by two of the four vertical lines and two of the four horizontal ones:

$$\\binom{4}{2} \\cdot \\binom{4}{2} = 6 \\cdot 6 = 36$$

What I "thought" stands folded above this answer. It was written beforehand, as all I say: I am a demo.
""",
    parts="""\
A function, with its language and a button that copies it:

{code}

A table of rough numbers, which scrolls by itself where it is too wide:

| place | high water | low water | range |
|:--|--:|--:|--:|
| Husum | 3.5 m | 0.2 m | 3.3 m |
| Brest | 6.1 m | 1.4 m | 4.7 m |
| Saint John | 8.2 m | 0.6 m | 7.6 m |

And a formula, as text that is drawn here without any server:

{formula}
""",
    sentences=(
        "The keeper climbed the stairs, as on every evening, and counted them although he knew how many there were.",
        "Below, the water came in without a sound and took the path across the flats, stone by stone.",
        "He wrote the hour into the book, then the wind, then what he had seen, which was little.",
        "A ship went by far out; its lights said that it was in no hurry.",
        "In the kitchen the radio spoke of weather that would arrive on the following day, or perhaps not.",
        "He turned the lamp by hand for a while, because the motor had stopped, and because he liked to.",
    ),
    night="Night {number}.",
    advice="_Stop me at any time, or reload the page: what was written stays, and the answer goes on where it is._",
    morning="And then it was morning.",
    compared="""\
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
""",
    compared_briefly="""\
Tea: leaves, milder, about 40 mg of caffeine in a cup. Coffee: seeds, stronger, about 90 mg.

In the morning coffee, in the evening neither.
""",
    cited="""\
The handbook has three rules for fog:

1. The horn is sounded **as soon as the outer beacon is out of sight**, by day as by night [#].
2. One blast of four seconds each minute; the keeper on watch writes down when the first and the last one sounded [#].
3. Should the compressor fail, the bell is rung by hand, five strokes each minute, until it works again [#].

The number behind a statement leads to the document it was taken from: click on it.
""",
    without_handbook="""\
I know one document alone: the handbook that comes with the suggestion on an empty page. Begin a new chat and choose \
the question about fog there: I answer from the handbook, and cite it.
""",
    without_tool="""\
I would ask the tool `current_time`, but it is not switched on in this chat. Open the options beside the model's name, \
check **Date and time**, and ask me again: you will see the call, its arguments and what came back.
""",
    without_notes="""\
I would write that down with the tool `add_note` of the server **notes**, but it is not switched on in this chat. Open the options \
beside the model's name, check **All tools of notes**, and ask me again: the call waits until you allow it, change it or refuse it.
""",
    note="The lamp of the lighthouse needs oil.",
)
