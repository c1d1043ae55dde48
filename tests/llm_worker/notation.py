"""Branches, and what a model sees of them, in a compact notation.

A word is one message: its letters, its turn, a mark, and after a colon its tokens (1 if left out).
Without a turn, S SUM CA P D R are the framing; with one, CA1 P1 D1 are blocks stored above U1.
F1 is a file and I1 an image of U1. TC opens a round, each TR after it is one call of it; rounds belong to the next A,
or, at the end, to the turn being answered. A1- has no text, TR- no response, TC+ has text before it.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from chat.transcript.entries import Block, Call, Document, Entry, Image, Round, TextFile
from chat.transcript.tokens import (
    OMITTED_RESPONSE_TOKENS,
    SENT_AT_TOKENS,
    TOKENS_PER_CALL,
    TOKENS_PER_MESSAGE,
)
from llm_worker.request.context import Budget, Context, build_context
from llm_worker.request.model_message import Message
from llm_worker.request.prompt_parts import PromptParts

# Of a response in history; this alone has no price of its own.
GONE_COSTS = OMITTED_RESPONSE_TOKENS + TOKENS_PER_MESSAGE
SENT_AT = datetime(2026, 11, 21, 14, 5, 59, tzinfo=UTC)
WORD = re.compile(r"(?P<name>(?P<letter>[A-Z]+)(?P<turn>\d*))(?P<mark>[-+]?)(?::(?P<tokens>\d+))?")
FRAMING = {
    "S": "system", "SUM": "summary", "CA": "agent_prompt", "P": "project", "D": "dynamic_context", "R": "reminder",
}  # fmt: skip
TITLE = re.compile(r'"title": "(F\d)"')


@dataclass
class Given:
    prompt_parts: PromptParts
    entries: list[Entry]
    rounds: list[Round]
    costs: dict[str, int]

    def tokens_of(self, text: str, _stored: int) -> int:
        """So that each message costs its tokens alone: the fixed costs around it are taken out."""
        if document := TITLE.search(text):
            return self.costs[document[1]] - TOKENS_PER_MESSAGE
        if text.startswith("call"):
            return self.costs["TC"] - TOKENS_PER_MESSAGE - TOKENS_PER_CALL
        if text.startswith("before "):
            return 0
        name = text.rsplit(maxsplit=1)[-1]
        fixed = TOKENS_PER_MESSAGE + (SENT_AT_TOKENS if name.startswith("U") else 0)
        return self.costs[name] - fixed


@dataclass
class Reader:
    prompt_parts: dict[str, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    costs: dict[str, int] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    files: list[TextFile] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    rounds: list[tuple[str, list[Call]]] = field(default_factory=list)
    calls: int = 0

    def read(self, name: str, letter: str, turn: str, mark: str) -> None:
        if letter == "TC":
            self.rounds.append((f"before {len(self.rounds)} " if mark else "", []))
        elif letter == "TR":
            self.calls += 1
            call = Call(f"c{self.calls}", f"call{self.calls}", {"n": self.calls}, "" if mark else "TR")
            self.rounds[-1][1].append(call)
        elif letter == "F":
            self.files.append(text_file(name))
        elif letter == "I":
            self.images.append(Image(name, f"{name}.png", f"data:{name}", 16, 16))
        elif letter == "U":
            more = {"blocks": tuple(self.blocks), "files": tuple(self.files), "images": tuple(self.images)}
            self.entries.append(Entry(name, "user", name, SENT_AT, **more))
            self.blocks, self.files, self.images = [], [], []
        elif letter == "A":
            rounds, self.rounds = self.finished(), []
            text = "".join(each.text_before for each in rounds) + ("" if mark else name)
            self.entries.append(Entry(name, "assistant", text, SENT_AT, rounds=tuple(rounds)))
        elif turn:
            self.blocks.append(Block(letter, name))
        else:
            self.prompt_parts[FRAMING[letter]] = name

    def finished(self) -> list[Round]:
        return [Round(tuple(calls), before, "thoughts") for before, calls in self.rounds]


def given(notation: str, **prompt_parts: object) -> Given:
    reader = Reader()
    for word in notation.split():
        match = WORD.fullmatch(word)
        reader.read(match["name"], match["letter"], match["turn"], match["mark"])
        reader.costs[match["name"]] = int(match["tokens"] or 1)
    return Given(
        PromptParts(**reader.prompt_parts, **prompt_parts), reader.entries, reader.finished(), reader.costs
    )


def text_file(name: str) -> TextFile:
    document = Document(int(name[1:]), name, name, f"contents of {name}")
    return TextFile(f"id-{name}", f"{name}.txt", 1234, document)


def built(notation: str, budget: int = 10**6, for_rounds: int = 0, **prompt_parts: object) -> Context:
    branch = given(notation, **prompt_parts)
    return build_context(
        branch.entries,
        branch.prompt_parts,
        rounds=branch.rounds,
        budget=Budget(budget, for_rounds),
        tokens_of=branch.tokens_of,
    )


def shown(messages: list[Message]) -> str:
    return " ".join(word(message) for message in messages)


def word(message: Message) -> str:
    if message.letter in ("TC", "TR", "N"):
        return message.letter
    if message.letter == "F":
        return " ".join(TITLE.findall(message.text))
    return message.text.partition("\n")[0].split()[-1]
