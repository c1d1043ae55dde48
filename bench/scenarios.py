"""The benchmarks themselves: each takes a subject and answers with figures by name."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import quantiles

import aiohttp

from bench.load import Answer, Conversation
from bench.processes import Meter, cpu_s
from bench.subjects import Subject, System
from bench.upstream import Seen

Figures = dict[str, float]

# Starts are spread, as people are: a burst would measure the queue for the processor and nothing else.
RAMP_S = 2.0
# What follows the last token (the run's end is stored and announced) belongs to the relay's cost.
SETTLE_S = 0.5
WARM_UPS = 20
RELAY, RELAY_TOKENS = "mock-200x50", 200
# Longer, so that starting is over well before the first one ends.
STREAM, STREAM_TOKENS = "mock-500x50", 500
STREAM_RAMP_S = 4.0
THROUGHPUT, THROUGHPUT_TOKENS = "mock-2000x0", 2000
BACKGROUND, BACKGROUND_TOKENS = "mock-400x50", 400
PROBE, PROBE_TOKENS = "mock-5x50", 5
ENDLESS = "mock-60000x50"
MODELS = [RELAY, STREAM, THROUGHPUT, BACKGROUND, PROBE, ENDLESS]


@dataclass
class Upstream:
    """The upstream's own view of every request, by the mark its question carried."""

    http: aiohttp.ClientSession
    url: str

    async def forget(self) -> None:
        async with self.http.delete(f"{self.url}/log") as reply:
            reply.raise_for_status()

    async def log(self) -> dict[str, Seen]:
        async with self.http.get(f"{self.url}/log") as reply:
            rows = [Seen(**row) for row in await reply.json()]
        return {row.mark: row for row in rows if row.mark}


def percentile(values: Iterable[float], percent: int) -> float:
    ordered = sorted(values)
    return quantiles(ordered, n=100, method="inclusive")[percent - 1] if len(ordered) > 1 else ordered[0]


async def opened(subject: Subject, count: int) -> list[Conversation]:
    conversations = [await subject.open() for _ in range(count)]
    # What opening sets off (a list of chats hears of each) is not what is measured.
    await asyncio.sleep(SETTLE_S)
    return conversations


async def close(conversations: Sequence[Conversation]) -> None:
    for conversation in conversations:
        await conversation.close()


async def relay(subject: Subject, runs: int) -> Figures:
    """Processor time per 1,000 tokens, from the first question to the last stored answer, and each token's delay."""
    conversations = await opened(subject, runs)
    groups = {**subject.relay, **subject.beside}
    before = {name: cpu_s(group) for name, group in groups.items()}
    answers = await spread(conversations, RAMP_S, RELAY, RELAY_TOKENS)
    await asyncio.sleep(SETTLE_S)
    after = {name: cpu_s(group) for name, group in groups.items()}
    await close(conversations)
    thousands = runs * RELAY_TOKENS / 1000
    used = {name: (after[name] - before[name]) * 1000 / thousands for name in before}
    return {
        "cpu": sum(used[name] for name in subject.relay),
        **{f"cpu_{name}": value for name, value in used.items()},
        **delays(answers),
    }


async def stream(subject: Subject, runs: int) -> Figures:
    """Processor time per 1,000 tokens while all runs stream: what a token costs, without what a turn costs."""
    conversations = await opened(subject, runs)
    async with Meter(subject.relay) as meter:
        answers = await spread(conversations, STREAM_RAMP_S, STREAM, STREAM_TOKENS)
    await close(conversations)
    begin_ns = max(answer.sent_ns for answer in answers)
    end_ns = min(answer.ended_ns for answer in answers)
    inside = [sample for sample in meter.samples if begin_ns <= sample.at_ns <= end_ns]
    if len(inside) < 2:
        return {}
    first, last = inside[0], inside[-1]
    tokens = sum(first.at_ns < seen <= last.at_ns for answer in answers for seen in answer.seen_ns)
    used = {name: (last.used_s[name] - first.used_s[name]) * 1e6 / tokens for name in first.used_s}
    return {
        "cpu": sum(used.values()),
        **{f"cpu_{name}": value for name, value in used.items()},
        **delays(answers),
    }


async def spread(
    conversations: Sequence[Conversation], ramp_s: float, model: str, tokens: int
) -> list[Answer]:
    """Everybody asks once, one after the other within `ramp_s`; returns when all have their answer."""

    async def ask(number: int) -> Answer:
        await asyncio.sleep(ramp_s * number / len(conversations))
        return await conversations[number].asked(model, tokens)

    return await asyncio.gather(*map(ask, range(len(conversations))))


def delays(answers: Sequence[Answer]) -> Figures:
    """From a token's birth to its receipt."""
    milliseconds = [delay for answer in answers for delay in answer.delays_ms()]
    return {"delay_p50": percentile(milliseconds, 50), "delay_p99": percentile(milliseconds, 99)}


async def throughput(subject: Subject, runs: int = 20) -> Figures:
    """Tokens a second through all runs together, from the first question to the last token."""
    conversations = await opened(subject, runs)
    begin = time.monotonic()
    await asyncio.gather(*[each.asked(THROUGHPUT, THROUGHPUT_TOKENS) for each in conversations])
    took_s = time.monotonic() - begin
    await close(conversations)
    return {"tokens_per_s": runs * THROUGHPUT_TOKENS / took_s}


async def first_token(subject: Subject, upstream: Upstream, background: int, probes: int = 40) -> Figures:
    """What the relay adds to the time to first token, upstream's own taken off, while `background` runs stream."""
    crowd = await opened(subject, background)
    conversations = await opened(subject, probes)
    await upstream.forget()

    async def fill(number: int) -> None:
        await asyncio.sleep(RAMP_S * number / background)
        await crowd[number].asked(BACKGROUND, BACKGROUND_TOKENS)

    filling = [asyncio.create_task(fill(number)) for number in range(background)]
    await asyncio.sleep((RAMP_S + 0.5) if background else 0)
    answers = [await conversation.asked(PROBE, PROBE_TOKENS) for conversation in conversations]
    await asyncio.gather(*filling)
    log = await upstream.log()
    await close([*crowd, *conversations])
    own_ms = [(log[answer.mark].first_token_ns - log[answer.mark].arrived_ns) / 1e6 for answer in answers]
    added = [(a.first_ns - a.accepted_ns) / 1e6 - own for a, own in zip(answers, own_ms, strict=True)]
    from_send = [(a.first_ns - a.sent_ns) / 1e6 - own for a, own in zip(answers, own_ms, strict=True)]
    return {
        "p50": percentile(added, 50),
        "p99": percentile(added, 99),
        "from_send_p50": percentile(from_send, 50),
        "from_send_p99": percentile(from_send, 99),
    }


async def stop(subject: Subject, upstream: Upstream, runs: int = 40) -> Figures:
    """From the command to the moment the upstream sees its client gone, while all runs stream."""
    conversations = await opened(subject, runs)
    await upstream.forget()
    answers = [await conversation.send(ENDLESS) for conversation in conversations]
    pairs = list(zip(conversations, answers, strict=True))
    following = [asyncio.create_task(conversation.follow(answer)) for conversation, answer in pairs]
    async with asyncio.timeout(60):
        await asyncio.gather(*[answer.begun.wait() for answer in answers])
    told_ns: dict[str, int] = {}
    for conversation, answer in pairs:
        told_ns[answer.mark] = time.time_ns()
        await conversation.socket.send_str(conversation.stop(answer.run))
        await asyncio.sleep(0.05)
    log = await _disconnected(upstream, runs)
    await asyncio.wait(following, timeout=SETTLE_S)
    for task in following:
        task.cancel()
    await asyncio.gather(*following, return_exceptions=True)
    await close(conversations)
    delays = [(log[mark].disconnected_ns - told) / 1e6 for mark, told in told_ns.items()]
    return {"p50": percentile(delays, 50), "p99": percentile(delays, 99)}


async def _disconnected(upstream: Upstream, runs: int) -> dict[str, Seen]:
    async with asyncio.timeout(15):
        while True:
            log = await upstream.log()
            gone = sum(bool(seen.disconnected_ns) for seen in log.values())
            if gone == runs:
                return log
            await asyncio.sleep(0.1)


async def long_history(
    system: System, upstream: Upstream, trees: dict[str, dict[str, str]], repeats: int = 10
) -> Figures:
    """From `accepted` (and from send) to the upstream request, by what tree and branch already hold. Medians.

    A worker may be faster than the reply: then the first is negative.
    """
    figures: Figures = {}
    for name, tree in trees.items():
        conversation = await system.join(tree["session"], parent=tree["leaf"])
        await upstream.forget()
        answers = [await conversation.asked(PROBE, PROBE_TOKENS) for _ in range(repeats)]
        await conversation.close()
        log = await upstream.log()
        waits = [(log[answer.mark].arrived_ns - answer.accepted_ns) / 1e6 for answer in answers]
        sends = [(log[answer.mark].arrived_ns - answer.sent_ns) / 1e6 for answer in answers]
        figures |= {name: percentile(waits, 50), f"{name}_from_send": percentile(sends, 50)}
    # By the longer way: what follows `accepted` is so short that noise would decide.
    return figures | {"ratio_10000": figures["tree_10000_from_send"] / figures["tree_10_from_send"]}


async def warm_up(subject: Subject) -> None:
    """Imports, pools and connections are made at the first question; every process gets some. And Postgres plans a
    statement anew until it has seen it five times on a connection: what has just started is not what is measured."""
    conversations = await opened(subject, 20)
    for _ in range(WARM_UPS):
        await asyncio.gather(*[each.asked(PROBE, PROBE_TOKENS) for each in conversations])
    await close(conversations)
