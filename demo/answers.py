"""Builds the answers of the demo model. Pure."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from demo.scenes import TIME_TOOL, find_scene

NAME = "demo"
READING_SPEED = 60.0
MOCK = re.compile(r"mock-(\d{1,6})x(\d{1,6})", re.ASCII)
QUOTED_CHARACTERS = 200
# The worker appends the time of a message; it is not part of what the user wrote.
SUFFIX = re.compile(r"\s*<sent_at>[^<]*</sent_at>\s*$")

GUIDE = """\
**No model is configured**, so this is the built-in demo. I cannot think, but everything around me is real: \
this answer was made in a worker process, streamed through Redis, and is stored in Postgres.

{quote}### Connect a model

Any server that speaks the OpenAI protocol will do. Stop with Ctrl-C, then start again with its address:

```sh
LLM_BASE_URL=https://api.example.com/v1 \\
LLM_API_KEY=sk-your-key \\
LLM_MODELS=large-model:128000,small-model:32000 \\
make run
```

| variable | meaning |
|---|---|
| `LLM_BASE_URL` | the server's address, ending in `/v1` |
| `LLM_API_KEY` | its key, if it wants one |
| `LLM_MODELS` | names, separated by commas; `:tokens` is the context window; the first is the default |

### Or run a small one here

```sh
make local-model   # once: compiles for some minutes
make run
```

That serves SmolLM2-135M-Instruct on this machine. It is tiny and often wrong, but it is a real model.

Meanwhile you can try the rest with me: **stop** this answer, **edit** your question, **regenerate**, \
or reload the page while I write.
"""


@dataclass(frozen=True)
class DemoAnswer:
    """Pieces of text to stream and their rate; a rate of 0 means as fast as possible.

    reasoning: pieces that come before.  tool: the name of one that is called instead, without arguments.
    """

    pieces: tuple[str, ...]
    pieces_per_s: float
    reasoning: tuple[str, ...] = ()
    tool: str = ""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def build_answer(
    model: str, question: str, tools: Collection[str] = (), result: str | None = None
) -> DemoAnswer:
    """Return N pieces at R per second for the model `mock-<N>x<R>`, otherwise a scene or the guide to connecting a model.

    tools: the names of those offered.  result: of the call before, if the request ends with one.
    """
    mock = MOCK.fullmatch(model)
    if mock:
        count, per_s = (int(number) for number in mock.groups())
        return DemoAnswer(tuple(create_pieces(count)), float(per_s))
    if result is not None:
        return DemoAnswer(split_words(f"The tool says: **{result.strip()}**\n"), READING_SPEED)
    if scene := find_scene(question):
        if scene.calls_time and TIME_TOOL in tools:
            return DemoAnswer((), READING_SPEED, tool=TIME_TOOL)
        return DemoAnswer(split_words(scene.text), READING_SPEED, split_words(scene.reasoning))
    quote = f"You wrote:\n\n> {quote_question(question)}\n\n" if question.strip() else ""
    return DemoAnswer(split_words(GUIDE.format(quote=quote)), READING_SPEED)


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
    """Return the text of the newest user message, whose content may be a string or a list of parts."""
    for message in reversed(messages):
        if message.get("role") == "user":
            content = message.get("content")
            parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
            return " ".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))
    return ""


def find_result(messages: list[dict[str, object]]) -> str | None:
    """Return what the newest message says if it is the result of a call."""
    last = messages[-1] if messages else {}
    return str(last.get("content") or "") if last.get("role") == "tool" else None


def names_of_tools(tools: object) -> list[str]:
    """Return the names of the tools of a request."""
    listed = tools if isinstance(tools, list) else []
    functions = (each.get("function") for each in listed if isinstance(each, dict))
    return [str(each.get("name")) for each in functions if isinstance(each, dict)]
