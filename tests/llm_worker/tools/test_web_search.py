"""web_search against a scripted SearXNG: queries, documents, and responses to failures."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest

from chat.transcript.entries import Document
from llm_worker.tools.queries import MAX_QUERIES
from llm_worker.tools.registry import select_tools
from llm_worker.tools.tool import ToolFailed, ToolResult
from llm_worker.tools.web_search import services
from llm_worker.tools.web_search.tool import MAX_DOCUMENTS, WebSearch
from tests.search_server import SearchServer


class UnusedContext:
    now = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture(scope="module")
def running() -> Iterator[SearchServer]:
    with SearchServer() as server:
        yield server


@pytest.fixture
def searching(running: SearchServer, settings: Any) -> SearchServer:
    settings.WEB_SEARCH_URL = running.url
    running.reset()
    return running


def page(name: str, **more: Any) -> dict[str, Any]:
    return {
        "title": name.title(),
        "url": f"https://example.org/{name}",
        "content": f"On {name}.",
        "score": 1.5,
        **more,
    }


async def search(**arguments: Any) -> ToolResult:
    return await WebSearch().run(arguments, UnusedContext())


def titles(outcome: ToolResult) -> str:
    return " ".join(document.title for document in outcome.documents)


def test_it_is_offered_only_if_a_server_is_configured(settings: Any) -> None:
    settings.WEB_SEARCH_URL = ""
    assert select_tools(["web_search"]) == []
    settings.WEB_SEARCH_URL = "http://127.0.0.1:9"
    assert [tool.name for tool in select_tools(["web_search"])] == ["web_search"]


async def test_results_are_documents(searching: SearchServer) -> None:
    searching.find(page("moon", publishedDate="2026-11-20T00:00:00"), page("mars"))
    outcome = await search(query="moon landing")
    moon = Document(
        0, "https://example.org/moon", "Moon", "On moon.", "https://example.org/moon",
        {"published": "2026-11-20T00:00:00"},
    )  # fmt: skip
    assert outcome.documents == (
        moon, Document(0, "https://example.org/mars", "Mars", "On mars.", "https://example.org/mars"),
    )  # fmt: skip
    assert outcome.response == ""
    [asked] = searching.requests
    assert (asked.path, asked.parameters) == ("/search", {"q": "moon landing", "format": "json"})


@pytest.mark.parametrize("address", ["{url}/", "{url}/search", "{url}/search?language=de"])
async def test_the_server_address_is_normalised(searching: SearchServer, settings: Any, address: str) -> None:
    settings.WEB_SEARCH_URL = address.format(url=searching.url)
    await search(query="a&b")
    [asked] = searching.requests
    assert (asked.path, asked.query) == ("/search", "a&b")
    assert ("language" in asked.parameters) == ("language" in address)


async def test_queries_run_concurrently_and_their_best_results_come_first(searching: SearchServer) -> None:
    searching.find(page("a1"), page("a2"), page("a3"), query="a")
    searching.find(page("b1"), page("a1"), query="b")
    outcome = await search(queries=["a", "b"])
    assert titles(outcome) == "A1 B1 A2 A3"
    assert sorted(searching.queries) == ["a", "b"]


async def test_duplicate_queries_are_sent_once(searching: SearchServer) -> None:
    await search(query="Moon", queries=["moon ", "", "mars"])
    assert sorted(searching.queries) == ["Moon", "mars"]


async def test_an_empty_result_has_a_response(searching: SearchServer) -> None:
    assert await search(query="moon") == ToolResult("The web search found nothing.")


async def test_an_empty_query_sends_no_request(searching: SearchServer) -> None:
    with pytest.raises(ToolFailed, match="needs a `query`"):
        await search(queries=[" "])
    assert searching.requests == []


@pytest.mark.parametrize(
    "result",
    [
        {},
        page("x", url="javascript:alert(1)"),
        page("x", url=None),
        page("x", url="https://bank.example@evil.example/"),
        page("x", url="https://example.org/" + "x" * 500),
    ],
)
async def test_results_without_a_usable_address_are_dropped(
    searching: SearchServer, result: dict[str, Any]
) -> None:
    searching.find(result, page("moon"))
    assert titles(await search(query="x")) == "Moon"


async def test_a_lone_surrogate_does_not_drop_the_result(searching: SearchServer) -> None:
    searching.answer(body='{"results": [3, {"title": "\\ud83d", "url": "http://example.org/"}]}')
    assert titles(await search(query="x")) == "\ud83d"  # tool_round replaces it


async def test_invalid_fields_are_omitted_and_long_ones_truncated(searching: SearchServer) -> None:
    searching.find(page("a", title=None, content=7), page("b", title="t" * 999, content="c" * 9999))
    first, second = (await search(query="x")).documents
    assert (first.title, first.contents) == ("https://example.org/a", "")
    assert (len(second.title), len(second.contents)) == (300, 2000)


async def test_the_number_of_documents_is_limited(searching: SearchServer) -> None:
    for query in "abcdef":
        searching.find(*(page(f"{query}{number}") for number in range(50)), query=query)
    assert len((await search(queries=list("abcdef"))).documents) == MAX_DOCUMENTS


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ({"status": 403}, "The web search refused the question (status 403)."),
        ({"status": 429}, "The web search refused the question (status 429)."),
        ({"status": 500}, "The web search refused the question (status 500)."),
        (
            {"status": 302, "headers": {"Location": "/requests"}},
            "The web search refused the question (status 302).",
        ),
        ({"body": "<html>"}, "The web search sent something that is no list of results."),
        ({"body": "[" * 100_000}, "The web search sent something that is no list of results."),
        ({"body": "[]"}, "The web search sent something that is no list of results."),
        ({"body": '{"results": "many"}'}, "The web search sent something that is no list of results."),
        ({"body": '{"results": []' + " " * 3_000_000 + "}"}, "The web search sent more than can be read."),
    ],
)
async def test_a_failed_search_fails_the_call_with_a_reason(
    searching: SearchServer, rule: dict[str, Any], sentence: str
) -> None:
    searching.answer(**rule)
    with pytest.raises(ToolFailed) as failed:
        await search(query="moon")
    assert str(failed.value) == sentence
    assert len(searching.requests) == 1


async def test_an_unreachable_server_fails_the_call(settings: Any) -> None:
    settings.WEB_SEARCH_URL = "http://user:hunter2@127.0.0.1:1"
    with pytest.raises(ToolFailed, match=r"^The web search could not be reached\.$"):
        await search(query="moon")


async def test_a_server_that_does_not_respond_times_out(
    searching: SearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "TIMEOUT", aiohttp.ClientTimeout(total=0.05))
    searching.answer(hang=True)
    with pytest.raises(ToolFailed, match=r"^The web search did not answer in time\.$"):
        await search(query="moon")


async def test_results_are_returned_although_one_query_failed(searching: SearchServer) -> None:
    searching.answer(status=500, query="mars")
    searching.find(page("moon"), query="moon")
    assert titles(await search(queries=["mars", "moon"])) == "Moon"


async def test_a_stop_cancels_the_requests(searching: SearchServer) -> None:
    searching.answer(hang=True)
    running = asyncio.create_task(search(queries=["a", "b"]))
    await asyncio.to_thread(searching.wait_for, lambda: len(searching.requests) == 2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.to_thread(searching.wait_for, lambda: all(asked.left for asked in searching.requests))


@pytest.mark.parametrize(
    ("several", "one"),
    [
        ([{"query": "a"}, {"query": "b"}], ["a", "b"]),
        ([{"queries": ["a", "b"]}, {"query": "B"}, {"queries": ["c"]}], ["a", "b", "c"]),
        ([{"query": "a", "queries": ["b"]}, {}], ["a", "b"]),
        ([{"queries": [str(number) for number in range(8)]}] * 1 + [{"queries": list("abcdefg")}],
         [*"01234567", "a", "b"]),
    ],
)  # fmt: skip
def test_parallel_calls_are_merged_into_one(several: list[dict[str, Any]], one: list[str]) -> None:
    assert WebSearch().merge(several) == {"queries": one}
    assert len(one) <= MAX_QUERIES


@pytest.fixture
def brave(searching: SearchServer, settings: Any) -> SearchServer:
    settings.WEB_SEARCH_SERVICE, settings.WEB_SEARCH_API_KEY = "brave", "key"
    settings.WEB_SEARCH_URL = f"{searching.url}/res/v1/web/search"
    return searching


@pytest.fixture
def tavily(searching: SearchServer, settings: Any) -> SearchServer:
    settings.WEB_SEARCH_SERVICE, settings.WEB_SEARCH_API_KEY = "tavily", "key"
    settings.WEB_SEARCH_URL = f"{searching.url}/search"
    return searching


async def test_brave_is_asked_with_the_key_and_its_markup_is_read(brave: SearchServer) -> None:
    found = {"title": "Moon &amp; tides", "url": "https://example.org/moon", "description": "The <strong>Moon</strong> pulls: 1 &lt; 2.",
             "page_age": "2026-11-20T00:00:00", "profile": {"name": "Example"}, "type": "search_result"}  # fmt: skip
    brave.find(found, query="moon")
    outcome = await search(query="moon")
    assert outcome.documents == (
        Document(0, "https://example.org/moon", "Moon & tides", "The Moon pulls: 1 < 2.", "https://example.org/moon",
                 {"published": "2026-11-20T00:00:00"}),
    )  # fmt: skip
    assert brave.requests[0].parameters == {"q": "moon", "count": "8", "text_decorations": "false"}
    assert (await search(query="nothing at all")).response == "The web search found nothing."


async def test_tavily_is_asked_with_the_key(tavily: SearchServer) -> None:
    tavily.find(
        {
            "title": "Moon",
            "url": "https://example.org/moon",
            "content": "1 < 2",
            "score": 0.9,
            "raw_content": None,
        }
    )
    outcome = await search(query="moon")
    assert outcome.documents == (
        Document(0, "https://example.org/moon", "Moon", "1 < 2", "https://example.org/moon"),
    )
    assert tavily.requests[0].parameters == {"query": "moon", "max_results": 8}


@pytest.mark.parametrize(("service", "status"), [("brave", 422), ("tavily", 401)])
async def test_a_wrong_key_is_told_to_the_operator_alone(
    request: pytest.FixtureRequest, settings: Any, caplog: pytest.LogCaptureFixture, service: str, status: int
) -> None:
    request.getfixturevalue(service)
    settings.WEB_SEARCH_API_KEY = "wrong-key"
    with pytest.raises(ToolFailed, match=f"status {status}"):
        await search(query="moon")
    assert "is WEB_SEARCH_API_KEY right?" in caplog.text
    assert "wrong-key" not in caplog.text
