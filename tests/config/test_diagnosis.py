"""What `turnwire doctor` says of each measurement."""

import pytest

from config import diagnosis
from config.diagnosis import Finding

pytestmark = pytest.mark.pure

GIB = 2**30


@pytest.mark.parametrize(
    ("finding", "level", "words"),
    [
        (diagnosis.of_eviction("redis", "noeviction"), "ok", "noeviction"),
        (diagnosis.of_eviction("redis", "allkeys-lru"), "error", "is allkeys-lru"),
        (diagnosis.of_eviction("redis", None), "warning", "no right to INFO"),
        (diagnosis.of_clock("postgres", 0.2), "ok", "differ by 0.2 s"),
        (diagnosis.of_clock("postgres", -2.5), "warning", "differ by 2.5 s"),
        (diagnosis.of_clock("postgres", 31), "error", "NTP"),
        (diagnosis.of_clock("postgres", -31), "error", "NTP"),
        (diagnosis.of_migrations([]), "ok", "all applied"),
        (diagnosis.of_migrations(["chat.0001_a"]), "error", "1 not applied (chat.0001_a)"),
        (diagnosis.of_migrations(list("abcd")), "error", "4 not applied (a, b, c …)"),
        (diagnosis.of_space("disk", "/data", 6 * GIB), "ok", "6.0 GiB"),
        (diagnosis.of_space("disk", "/data", 2 * GIB), "warning", "2.0 GiB"),
        (diagnosis.of_space("disk", "/data", 2 * GIB, 3 * GIB), "error", "less than the 3.0"),
        (diagnosis.of_space("disk", "/data", GIB // 4), "error", "0.2 GiB"),
        (diagnosis.of_proxies([], has_tls=False), "ok", "none"),
        (diagnosis.of_proxies([], has_tls=True), "error", "redirected forever"),
        (diagnosis.of_proxies(["10.0.0.0/8"], has_tls=True), "ok", "10.0.0.0/8"),
        (diagnosis.of_proxies(["10.0.0.0/8", "::/0"], has_tls=True), "error", "everybody"),
        (diagnosis.of_proxies(["0.0.0.0/0"], has_tls=False), "error", "everybody"),
    ],
)
def test_a_measurement_is_judged(finding: Finding, level: str, words: str) -> None:
    assert finding.level == level
    assert words in finding.text


@pytest.mark.parametrize(
    ("roles", "unread", "levels"),
    [
        ([], ["llm"], ["warning"]),
        (["llm", "sweeper", "web"], [], ["ok"]),
        (["llm", "web"], ["slow"], ["error", "error", "ok"]),
    ],
)
def test_processes_and_queues_that_lack_are_named(
    roles: list[str], unread: list[str], levels: list[str]
) -> None:
    assert [finding.level for finding in diagnosis.of_processes(roles, unread)] == levels


def test_a_collation_that_changed_is_an_error() -> None:
    assert diagnosis.of_collation(None, None) == diagnosis.of_collation("2.36", "2.36") == []
    assert [finding.level for finding in diagnosis.of_collation("2.31", "2.36")] == ["error"]


@pytest.mark.parametrize(
    ("names", "demo", "problems", "levels"),
    [
        ([], [], [], ["error"]),
        (["demo"], ["demo"], [], ["warning"]),
        (["large", "demo"], ["demo"], [], ["ok"]),
        (["large"], [], ["small: its address is refused"], ["error", "ok"]),
    ],
)
def test_some_real_model_is_needed(
    names: list[str], demo: list[str], problems: list[str], levels: list[str]
) -> None:
    assert [finding.level for finding in diagnosis.of_models(names, demo, problems)] == levels
