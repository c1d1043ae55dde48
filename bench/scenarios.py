"""The benchmarks. Each measures one subject and returns its figures by name."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import quantiles

import aiohttp

from bench.load import AnswerTrace, Conversation, Subject, System
from bench.stack import CpuMeter, used_cpu_s
from bench.upstream import RequestRecord

Figures = dict[str, float]

# Starts are spread out: a burst would only measure the queue for the processor.
RAMP_S = 2.0
# Storing and announcing the end of a run follow its last token and are part of the cost.
SETTLE_S = 0.5
WARM_UPS = 20
RELAY, RELAY_TOKENS = "mock-200x50", 200
# Longer answers, so that the last run starts well before the first one ends.
STREAM, STREAM_TOKENS = "mock-500x50", 500
STREAM_RAMP_S = 4.0
THROUGHPUT, THROUGHPUT_TOKENS = "mock-2000x0", 2000
BACKGROUND, BACKGROUND_TOKENS = "mock-400x50", 400
PROBE, PROBE_TOKENS = "mock-5x50", 5
ENDLESS = "mock-60000x50"
MODELS = [RELAY, STREAM, THROUGHPUT, BACKGROUND, PROBE, ENDLESS]


@dataclass
class UpstreamLog:
    """Client of the upstream's request log, whose records are keyed by the mark of the question."""

    http: aiohttp.ClientSession
    url: str

    async def clear_log(self) -> None:
        async with self.http.delete(f"{self.url}/log") as reply:
            reply.raise_for_status()

    async def read_log(self) -> dict[str, RequestRecord]:
        async with self.http.get(f"{self.url}/log") as reply:
            rows = [RequestRecord(**row) for row in await reply.json()]
        return {row.mark: row for row in rows if row.mark}


def percentile(values: Iterable[float], percent: int) -> float:
    ordered = sorted(values)
    return quantiles(ordered, n=100, method="inclusive")[percent - 1] if len(ordered) > 1 else ordered[0]


async def open_conversations(subject: Subject, count: int) -> list[Conversation]:
    conversations = [await subject.open_conversation() for _ in range(count)]
    # Opening a session publishes a change of the session list, which must not be measured.
    await asyncio.sleep(SETTLE_S)
    return conversations


async def close_conversations(conversations: Sequence[Conversation]) -> None:
    for conversation in conversations:
        await conversation.close()


async def measure_relay(subject: Subject, runs: int) -> Figures:
    """Measure processor time per 1,000 tokens, from the first question to the last stored answer, and token delays."""
    conversations = await open_conversations(subject, runs)
    groups = {**subject.counted, **subject.uncounted}
    before = {name: used_cpu_s(group) for name, group in groups.items()}
    answers = await ask_spread_out(conversations, RAMP_S, RELAY, RELAY_TOKENS)
    await asyncio.sleep(SETTLE_S)
    after = {name: used_cpu_s(group) for name, group in groups.items()}
    await close_conversations(conversations)
    thousands = runs * RELAY_TOKENS / 1000
    used = {name: (after[name] - before[name]) * 1000 / thousands for name in before}
    return {
        "cpu": sum(used[name] for name in subject.counted),
        **{f"cpu_{name}": value for name, value in used.items()},
        **delay_percentiles(answers),
    }


async def measure_stream(subject: Subject, runs: int) -> Figures:
    """Measure processor time per 1,000 tokens while all runs stream: the cost of a token without that of a turn."""
    conversations = await open_conversations(subject, runs)
    async with CpuMeter(subject.counted) as meter:
        answers = await ask_spread_out(conversations, STREAM_RAMP_S, STREAM, STREAM_TOKENS)
    await close_conversations(conversations)
    begin_ns = max(answer.sent_ns for answer in answers)
    end_ns = min(answer.ended_ns for answer in answers)
    inside = [sample for sample in meter.samples if begin_ns <= sample.at_ns <= end_ns]
    if len(inside) < 2:
        return {}
    first, last = inside[0], inside[-1]
    tokens = sum(
        first.at_ns < received <= last.at_ns for answer in answers for received in answer.received_ns
    )
    used = {name: (last.used_s[name] - first.used_s[name]) * 1e6 / tokens for name in first.used_s}
    return {
        "cpu": sum(used.values()),
        **{f"cpu_{name}": value for name, value in used.items()},
        **delay_percentiles(answers),
    }


async def ask_spread_out(
    conversations: Sequence[Conversation], ramp_s: float, model: str, tokens: int
) -> list[AnswerTrace]:
    """Ask once in each conversation, spread evenly over `ramp_s`, and return when all answers are complete."""

    async def ask_in_turn(number: int) -> AnswerTrace:
        await asyncio.sleep(ramp_s * number / len(conversations))
        return await conversations[number].ask_and_follow(model, tokens)

    return await asyncio.gather(*map(ask_in_turn, range(len(conversations))))


def delay_percentiles(answers: Sequence[AnswerTrace]) -> Figures:
    """Return percentiles of the time from a token's creation to its receipt, in milliseconds."""
    milliseconds = [delay for answer in answers for delay in answer.token_delays_ms()]
    return {"delay_p50": percentile(milliseconds, 50), "delay_p99": percentile(milliseconds, 99)}


async def measure_throughput(subject: Subject, runs: int = 20) -> Figures:
    """Measure tokens per second of all runs together, from the first question to the last token."""
    conversations = await open_conversations(subject, runs)
    begin = time.monotonic()
    await asyncio.gather(*[each.ask_and_follow(THROUGHPUT, THROUGHPUT_TOKENS) for each in conversations])
    took_s = time.monotonic() - begin
    await close_conversations(conversations)
    return {"tokens_per_s": runs * THROUGHPUT_TOKENS / took_s}


async def measure_first_token(
    subject: Subject, upstream: UpstreamLog, background: int, probes: int = 40
) -> Figures:
    """Measure the time to first token without the upstream's part while `background` runs stream, in milliseconds."""
    background_conversations = await open_conversations(subject, background)
    conversations = await open_conversations(subject, probes)
    await upstream.clear_log()

    async def ask_in_background(number: int) -> None:
        await asyncio.sleep(RAMP_S * number / background)
        await background_conversations[number].ask_and_follow(BACKGROUND, BACKGROUND_TOKENS)

    background_tasks = [asyncio.create_task(ask_in_background(number)) for number in range(background)]
    await asyncio.sleep((RAMP_S + 0.5) if background else 0)
    answers = [await conversation.ask_and_follow(PROBE, PROBE_TOKENS) for conversation in conversations]
    await asyncio.gather(*background_tasks)
    records = await upstream.read_log()
    await close_conversations([*background_conversations, *conversations])
    upstream_ms = [
        (records[answer.mark].first_token_ns - records[answer.mark].arrived_ns) / 1e6 for answer in answers
    ]
    added = [(a.first_ns - a.accepted_ns) / 1e6 - ms for a, ms in zip(answers, upstream_ms, strict=True)]
    from_send = [(a.first_ns - a.sent_ns) / 1e6 - ms for a, ms in zip(answers, upstream_ms, strict=True)]
    return {
        "p50": percentile(added, 50),
        "p99": percentile(added, 99),
        "from_send_p50": percentile(from_send, 50),
        "from_send_p99": percentile(from_send, 99),
    }


async def measure_stop(subject: Subject, upstream: UpstreamLog, runs: int = 40) -> Figures:
    """Measure the time from the stop command until the upstream sees the disconnect, in milliseconds.
    Meanwhile all runs stream.
    """
    conversations = await open_conversations(subject, runs)
    await upstream.clear_log()
    answers = [await conversation.send(ENDLESS) for conversation in conversations]
    pairs = list(zip(conversations, answers, strict=True))
    following = [asyncio.create_task(conversation.follow(answer)) for conversation, answer in pairs]
    async with asyncio.timeout(60):
        await asyncio.gather(*[answer.started.wait() for answer in answers])
    stop_sent_ns: dict[str, int] = {}
    for conversation, answer in pairs:
        stop_sent_ns[answer.mark] = time.time_ns()
        await conversation.socket.send_str(conversation.format_stop(answer.run))
        await asyncio.sleep(0.05)
    records = await _wait_for_disconnects(upstream, runs)
    await asyncio.wait(following, timeout=SETTLE_S)
    for task in following:
        task.cancel()
    await asyncio.gather(*following, return_exceptions=True)
    await close_conversations(conversations)
    delays_ms = [(records[mark].disconnected_ns - sent_ns) / 1e6 for mark, sent_ns in stop_sent_ns.items()]
    return {"p50": percentile(delays_ms, 50), "p99": percentile(delays_ms, 99)}


async def _wait_for_disconnects(upstream: UpstreamLog, runs: int) -> dict[str, RequestRecord]:
    async with asyncio.timeout(15):
        while True:
            records = await upstream.read_log()
            if sum(bool(record.disconnected_ns) for record in records.values()) == runs:
                return records
            await asyncio.sleep(0.1)


async def measure_long_history(
    system: System, upstream: UpstreamLog, trees: dict[str, dict[str, str]], repeats: int = 10
) -> Figures:
    """Measure the time from `accepted` (and from send) to the upstream request, by sizes of tree and branch.

    The figures are medians in ms. The time from `accepted` is negative if the worker is faster than the reply.
    """
    figures: Figures = {}
    for name, tree in trees.items():
        conversation = await system.join_session(tree["session"], parent=tree["leaf"])
        await upstream.clear_log()
        answers = [await conversation.ask_and_follow(PROBE, PROBE_TOKENS) for _ in range(repeats)]
        await conversation.close()
        records = await upstream.read_log()
        waits = [(records[answer.mark].arrived_ns - answer.accepted_ns) / 1e6 for answer in answers]
        sends = [(records[answer.mark].arrived_ns - answer.sent_ns) / 1e6 for answer in answers]
        figures |= {name: percentile(waits, 50), f"{name}_from_send": percentile(sends, 50)}
    # The ratio is that of the times from send: the time from `accepted` is so short that its ratio would be noise.
    return figures | {"ratio_10000": figures["tree_10000_from_send"] / figures["tree_10_from_send"]}


async def warm_up(subject: Subject) -> None:
    """Ask enough questions to bring each process to its steady state.

    The first question causes imports and opens pools and connections, and Postgres plans a prepared statement anew
    until its fifth execution on a connection.
    """
    conversations = await open_conversations(subject, 20)
    for _ in range(WARM_UPS):
        await asyncio.gather(*[each.ask_and_follow(PROBE, PROBE_TOKENS) for each in conversations])
    await close_conversations(conversations)
