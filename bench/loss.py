"""Information that long conversations lose: `python -m bench.loss [--turns 40] [--seed 1]`.

Ten conversations run in windows of different sizes, with and without tools, and with a large model beside a small one.
Each question holds a fact. The summariser is scripted and keeps every fact in its input, so that the system has dropped
every missing fact. The processes are those of the end-to-end tests. For each conversation the report has the number of
facts that the final request holds word for word and in its summary, the share that is lost, the number of requests that
lacked a fact, and the share of tokens that repeats the prefix of the previous request.
"""

import argparse
import asyncio
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from chat.transcript.tokens import count_tokens
from tests.e2e.client import Client
from tests.search_server import SearchServer
from tests.services import Services
from tests.stack import Stack
from tests.upstream import Upstream
from tests.upstream_steps import Rule, last_user_text

FACT = re.compile(r"fact-\d+-\d+\b")
TOOLS = ["web_search", "current_time", "research_agent"]
WINDOWS = (4_096, 8_000, 16_000, 32_000)
LARGE = 128_000
# A turn takes this share of the smallest window on average.
TURN_SHARE = 1 / 12
SIDE_BY_SIDE = 5


@dataclass(frozen=True)
class Conversation:
    """One conversation. models: those of every turn; the first one is measured.
    window: that of the smallest model. requests: the messages sent to the first model.
    """

    number: int
    models: tuple[str, ...]
    window: int
    has_tools: bool
    requests: list[list[dict[str, Any]]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{' beside '.join(self.models)}, {'three tools' if self.has_tools else 'no tools'}"

    def questions(self, turns: int, seed: int) -> Iterator[str]:
        """Yield questions with one fact each, of lengths between half and one and a half of the average."""
        lengths = random.Random(f"{seed}-{self.number}")
        for turn in range(1, turns + 1):
            words = int(self.window * TURN_SHARE * lengths.uniform(0.25, 0.75))
            yield f"Remember fact-{self.number}-{turn}.{' word' * words}"


def create_conversations() -> list[Conversation]:
    settings = [((f"w{window}",), window) for window in WINDOWS]
    settings.append(((f"w{LARGE}", f"w{WINDOWS[0]}"), WINDOWS[0]))
    return [
        Conversation(2 * place + has_tools, models, window, bool(has_tools))
        for place, (models, window) in enumerate(settings)
        for has_tools in (0, 1)
    ]


def answer(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return an answer with as many words as the question has, without facts."""
    return [{"text": "Noted." + " word" * last_user_text(body).count(" word")}]


def keep_the_facts(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the facts before the marker and of the previous summary, oldest first.
    The oldest facts that exceed the word limit are left out.
    """
    texts = [message["content"] for message in body["messages"]]
    marker = next(place for place, text in enumerate(texts) if text.startswith("[Marker"))
    limits = re.findall(r"at most (\d+) words", texts[-1])
    facts = list(dict.fromkeys(FACT.findall("\n".join(texts[:marker]))))
    return [{"text": " ".join(facts[-int(limits[0]) :]) or "Nothing yet."}]


async def hold(stack: Stack, conversation: Conversation, turns: int, seed: int) -> None:
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        body: dict[str, Any] = {}
        if conversation.has_tools:
            given = {"name": conversation.name, "prompt": "You know the sea.", "tools": TOOLS}
            body["agent"] = (await alice.call("POST", "agents/", json=given, status=201))["id"]
        session = await alice.new_session(**body)
        await socket.subscribe(session["id"])
        for text in conversation.questions(turns, seed):
            turn = await alice.ask(session, text, models=list(conversation.models))
            await socket.until(lambda turn=turn: turn["turn"] in socket.stopped_turns, "overall_stop")
            compression = f"sessions/{session['id']}/compression/"
            while (await alice.call("GET", compression))["is_under_way"]:  # noqa: ASYNC110  as a client sees it
                await asyncio.sleep(0.02)
            sent = [
                one.messages
                for one in stack.upstream.requests
                if one.body["model"] == conversation.models[0] and last_user_text(one.body).startswith(text)
            ]
            conversation.requests.append(sent[-1])


def contents(messages: Sequence[dict[str, Any]]) -> list[str]:
    return [message["content"] or "" for message in messages]


def facts_in(texts: Sequence[str]) -> set[str]:
    return set(FACT.findall("\n".join(texts)))


def prefix_share(requests: Sequence[Sequence[dict[str, Any]]]) -> float:
    """Return the share of tokens that repeat the previous request, over all requests but the first."""
    repeated = total = 0
    for before, after in pairwise(requests):
        sizes = [count_tokens(text) + 4 for text in contents(after)]
        pairs = zip(before, after, strict=False)
        common = next((place for place, (one, other) in enumerate(pairs) if one != other), len(before))
        repeated, total = repeated + sum(sizes[:common]), total + sum(sizes)
    return repeated / total if total else 0.0


def report_line(conversation: Conversation, turns: int) -> str:
    final = contents(conversation.requests[-1])
    summaries = [text for text in final if text.startswith("This summarises")]
    words = facts_in([text for text in final if text not in summaries])
    summarised = facts_in(summaries) - words
    lost = turns - len(words | summarised)
    lacking = sum(len(facts_in(contents(sent))) < turn for turn, sent in enumerate(conversation.requests, 1))
    return (
        f"{conversation.name:32} {len(words):>9} {len(summarised):>11} {lost / turns:>6.0%} "
        f"{lacking:>9} of {turns} {prefix_share(conversation.requests):>8.2f}"
    )


async def measure(stack: Stack, turns: int, seed: int) -> list[Conversation]:
    stack.upstream.rules += [Rule(keep_the_facts, stream=False), Rule(answer)]
    places = asyncio.Semaphore(SIDE_BY_SIDE)
    conversations = create_conversations()

    async def hold_in_turn(conversation: Conversation) -> None:
        async with places:
            await hold(stack, conversation, turns, seed)

    await asyncio.gather(*map(hold_in_turn, conversations))
    return conversations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    models = {f"w{window}": window for window in (*WINDOWS, LARGE)}
    code = (
        "from chat.models import ModelConfig as M\n"
        f"for name, window in {models}.items(): M.objects.create(**M.fields_for(name, window))"
    )
    services = Services().start()
    with (
        Upstream() as upstream,
        SearchServer() as searching,
        Stack.running(services, upstream, searching) as stack,
    ):
        stack.manage("shell", "-v", "0", "-c", code)
        stack.start("compression")
        conversations = asyncio.run(measure(stack, arguments.turns, arguments.seed))
    services.stop()
    lines = [
        f"{'conversation':32} {'verbatim':>9} {'in summary':>11} {'lost':>6} {'lacking a fact':>15} {'prefix':>8}"
    ]
    lines += [report_line(conversation, arguments.turns) for conversation in conversations]
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
