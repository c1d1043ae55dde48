"""search_project and read_file, given what they search and read."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from chat.transcript.entries import Document
from llm_worker.request.numbered_documents import render_found
from llm_worker.tools.read_file.tool import DEFAULT_CHARACTERS, MAX_CHARACTERS
from llm_worker.tools.read_file.tool import TOOL as READ_FILE
from llm_worker.tools.search_project.tool import TOOL as SEARCH_PROJECT
from llm_worker.tools.tool import ToolFailed

pytestmark = pytest.mark.pure


def passage(file: str, start: int) -> Document:
    return Document(
        0, file, f"{file}.txt", f"{file} from {start}", metadata={"file": file, "start": str(start)}
    )


@dataclass
class Work:
    """What is found by each query."""

    found: dict[str, list[Document]] = field(default_factory=dict)
    read: list[tuple[str, int, int]] = field(default_factory=list)
    indexing: bool = False
    rewrites: Sequence[str] = ()

    @property
    def sources(self) -> "Work":
        return self

    async def search_project(self, query: str) -> Sequence[Document]:
        return self.found.get(query, [])

    async def rewrite_queries(self, _: Sequence[str]) -> Sequence[str]:
        return self.rewrites

    async def is_indexing(self) -> bool:
        return self.indexing

    async def read_file(self, file: str, start: int, length: int) -> Document:
        self.read.append((file, start, length))
        return passage(file, start)


async def test_while_files_are_indexed_the_response_says_so() -> None:
    work = Work({"tides": [passage("a", 0)]}, indexing=True)
    found = await SEARCH_PROJECT.run({"query": "tides"}, work)  # type: ignore[arg-type]
    assert "still being indexed" in found.note
    assert json.loads(render_found(found.documents, found.note))["note"] == found.note
    nothing = await SEARCH_PROJECT.run({"query": "moon"}, work)  # type: ignore[arg-type]
    assert (nothing.response, nothing.note) == ("", found.note)


async def test_each_passage_of_several_searches_is_returned_once_best_first() -> None:
    a, b, c = passage("a", 0), passage("a", 900), passage("b", 0)
    work = Work({"tides": [a, b], "moon": [b, c]})
    outcome = await SEARCH_PROJECT.run({"queries": ["tides", "moon", "Tides"]}, work)  # type: ignore[arg-type]
    assert outcome.documents == (a, b, c)
    assert SEARCH_PROJECT.count_searches({"queries": ["tides", "moon", "Tides"]}) == 2


async def test_the_rewrites_of_a_query_run_too_and_the_arguments_say_so() -> None:
    a, b = passage("a", 0), passage("b", 0)
    work = Work({"tides": [a], "ebb": [b]}, rewrites=["ebb", "Tides"])
    outcome = await SEARCH_PROJECT.run({"query": "tides"}, work)  # type: ignore[arg-type]
    assert outcome.documents == (a, b)
    assert outcome.arguments == {"queries": ["tides", "ebb"]}
    work.rewrites = ["TIDES"]
    same = await SEARCH_PROJECT.run({"query": "tides"}, work)  # type: ignore[arg-type]
    assert (same.documents, same.arguments) == ((a,), None)


def test_searches_of_one_step_become_one() -> None:
    assert SEARCH_PROJECT.merge([{"query": "tides"}, {"queries": ["moon", "tides"]}]) == {
        "queries": ["tides", "moon"]
    }


async def test_a_search_that_finds_nothing_says_so_and_one_without_words_fails() -> None:
    outcome = await SEARCH_PROJECT.run({"query": "tides"}, Work())  # type: ignore[arg-type]
    assert (outcome.response, outcome.documents) == ("Nothing in the project's files matches.", ())
    with pytest.raises(ToolFailed, match="needs a `query`"):
        await SEARCH_PROJECT.run({"query": " "}, Work())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ({}, (0, DEFAULT_CHARACTERS)),
        ({"start": 5, "length": 7}, (5, 7)),
        ({"length": 10**9}, (0, MAX_CHARACTERS)),
        ({"start": 5.0, "length": 7.0}, (5, 7)),
    ],
)
async def test_a_part_of_a_file_is_read(arguments: dict[str, Any], asked: tuple[int, int]) -> None:
    work = Work()
    outcome = await READ_FILE.run({"file": " a "} | arguments, work)  # type: ignore[arg-type]
    assert work.read == [("a", *asked)]
    assert outcome.documents == (passage("a", asked[0]),)
