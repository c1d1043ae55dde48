"""Increments of several processes are summed in a real Valkey."""

import uuid

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram

from chat.metrics.presence import live_processes
from chat.metrics.tally import Tally, sums


class Process:
    """One process's counters and its tally."""

    def __init__(self, key: str) -> None:
        self.registry = CollectorRegistry()
        self.tokens = Counter("tokens", "Tokens.", ["model"], registry=self.registry)
        self.closes = Counter("closes", "Closes.", registry=self.registry)
        self.seconds = Histogram(
            "seconds", "Seconds.", ["model"], buckets=(1, 2.5, 10), registry=self.registry
        )
        self.tally = Tally("llm", registry=self.registry, key=key)

    def stored_sums(self, key: str) -> dict[tuple[str, ...], float]:
        return {
            (sample.name, *sample.labels.values()): sample.value
            for family in sums(self.registry, key)
            for sample in family.samples
        }


@pytest.fixture
def key() -> str:
    return f"test:{{{uuid.uuid4()}}}"


def test_what_two_processes_counted_is_added_up(key: str) -> None:
    one, two = Process(key), Process(key)
    for process, tokens in ((one, 3), (two, 4)):
        process.tokens.labels("tides").inc(tokens)
        process.tally.push()
    assert one.stored_sums(key)[("tokens_total", "tides")] == 7


def test_only_what_is_new_is_added(key: str) -> None:
    process = Process(key)
    for tokens in (3, 0, 2):
        process.tokens.labels("tides").inc(tokens)
        process.tally.push()
    assert process.stored_sums(key)[("tokens_total", "tides")] == 5


def test_a_process_that_starts_again_goes_on_from_the_sum(key: str) -> None:
    for _ in range(3):
        process = Process(key)
        process.closes.inc()
        process.tally.push()
    assert process.stored_sums(key)[("closes_total",)] == 3


def test_a_histogram_has_all_its_buckets_in_order(key: str) -> None:
    process = Process(key)
    for seconds in (2, 3, 30):
        process.seconds.labels("tides").observe(seconds)
    process.tally.push()
    stored_sums = process.stored_sums(key)
    buckets = [name[1:] for name in stored_sums if name[0] == "seconds_bucket"]
    assert buckets == [("tides", "1.0"), ("tides", "2.5"), ("tides", "10.0"), ("tides", "+Inf")] or buckets == [
        ("1.0", "tides"), ("2.5", "tides"), ("10.0", "tides"), ("+Inf", "tides")
    ]  # fmt: skip
    counts = [value for name, value in stored_sums.items() if name[0] == "seconds_bucket"]
    assert counts == [0, 1, 2, 3]
    assert stored_sums[("seconds_count", "tides")] == 3
    assert stored_sums[("seconds_sum", "tides")] == 35


def test_what_nobody_counted_yet_is_zero(key: str) -> None:
    assert Process(key).stored_sums(key) == {("closes_total",): 0}


def test_each_push_says_that_the_process_lives_and_the_last_one_that_it_is_gone(key: str) -> None:
    process = Process(key)
    process.tally.push()
    assert [one.role for one in live_processes(key)] == ["llm"]
    process.closes.inc()
    process.tally.end()
    assert live_processes(key) == []
    assert process.stored_sums(key) == {("closes_total",): 1}
