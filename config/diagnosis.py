"""The findings of `turnwire doctor` from its measurements. Pure; doctor.py measures."""

from collections.abc import Sequence
from ipaddress import ip_network
from typing import Final, Literal, NamedTuple

Level = Literal["ok", "warning", "error"]

# Codes of authenticator apps are valid for 30 s, and tokens of OpenID Connect for about as long.
FALSE_CLOCK_S: Final = 30.0
INEXACT_CLOCK_S: Final = 2.0
# Space that logs, uploads and an embedded database need to continue; and the space below which a disk is nearly full.
LEAST_FREE_BYTES: Final = 512 * 2**20
LITTLE_FREE_BYTES: Final = 5 * 2**30


class Finding(NamedTuple):
    level: Level
    subject: str
    text: str


def of_eviction(subject: str, policy: str | None) -> Finding:
    """Judge the eviction policy of a Redis. policy: its maxmemory-policy; None: its user may not ask for it."""
    if policy is None:
        return Finding("warning", subject, "maxmemory-policy is unknown: the user has no right to INFO")
    if policy != "noeviction":
        return Finding(
            "error",
            subject,
            f"maxmemory-policy is {policy}: a full server deletes queues and live logs; set noeviction",
        )
    return Finding("ok", subject, "maxmemory-policy is noeviction")


def of_clock(subject: str, ahead_s: float) -> Finding:
    """Judge the clock of a server. ahead_s: seconds by which it is ahead of this machine's clock."""
    off_s = abs(ahead_s)
    text = f"its clock and this machine's differ by {off_s:.1f} s"
    if off_s > FALSE_CLOCK_S:
        return Finding("error", subject, f"{text}: second factors and logins fail; synchronise both (NTP)")
    return Finding("warning" if off_s > INEXACT_CLOCK_S else "ok", subject, text)


def of_migrations(unapplied: Sequence[str]) -> Finding:
    if unapplied:
        names = ", ".join(unapplied[:3]) + (" …" if len(unapplied) > 3 else "")
        return Finding("error", "migrations", f"{len(unapplied)} not applied ({names}): run turnwire migrate")
    return Finding("ok", "migrations", "all applied")


def of_space(subject: str, path: str, free_bytes: int, least_bytes: int = LEAST_FREE_BYTES) -> Finding:
    text = f"{path} has {free_bytes / 2**30:.1f} GiB free"
    if free_bytes < least_bytes:
        return Finding("error", subject, f"{text}, less than the {least_bytes / 2**30:.1f} that are needed")
    return Finding("warning" if free_bytes < LITTLE_FREE_BYTES else "ok", subject, text)


def of_proxies(trusted: Sequence[str], *, has_tls: bool) -> Finding:
    """Judge the trusted proxies.
    has_tls: whether users reach the site by https, which another program has to terminate.
    """
    if too_wide := [network for network in trusted if ip_network(network).prefixlen == 0]:
        return Finding(
            "error", "proxy", f"TRUSTED_PROXIES has {too_wide[0]}: everybody can pretend an address"
        )
    if has_tls and not trusted:
        return Finding(
            "error",
            "proxy",
            "TLS is expected and TRUSTED_PROXIES is empty: requests are redirected forever, and all users share one address",
        )
    return Finding("ok", "proxy", f"headers of {', '.join(trusted)} are believed" if trusted else "none")


def of_collation(recorded: str | None, actual: str | None) -> list[Finding]:
    """Judge the collation of the database. recorded: the version that its indexes were built with, None for `C`."""
    if recorded is None or recorded == actual:
        return []
    return [
        Finding(
            "error",
            "postgres",
            f"its collation was version {recorded} and is {actual} now: indexes of texts may miss rows;"
            " REINDEX DATABASE, then ALTER DATABASE … REFRESH COLLATION VERSION",
        )
    ]


def of_processes(roles: Sequence[str], unread: Sequence[str]) -> list[Finding]:
    """Judge the processes that live, on all hosts. roles: of each.  unread: the queues that no worker reads."""
    if not roles:
        return [Finding("warning", "processes", "none lives: the instance is not running")]
    found = [
        Finding("error", "processes", f"no {role} process lives: {effect}")
        for role, effect in (
            ("web", "nobody is answered"),
            ("sweeper", "what a crash leaves is not repaired"),
        )
        if role not in roles
    ]
    found += [
        Finding("error", "processes", f"no worker reads the queue {queue}: what is in it waits")
        for queue in unread
    ]
    counts = ", ".join(f"{roles.count(role)} {role}" for role in sorted(set(roles)))
    return [*found, Finding("ok", "processes", counts)]


def of_models(names: Sequence[str], demo: Sequence[str], problems: Sequence[str]) -> list[Finding]:
    """Judge the models. names: the offered ones, `demo` models among them.  problems: why others cannot be used."""
    found = [Finding("error", "models", problem) for problem in problems]
    if not names:
        return [
            *found,
            Finding(
                "error", "models", "none is offered: set LLM_BASE_URL and LLM_MODELS, or add one on the page"
            ),
        ]
    if set(names) <= set(demo):
        return [*found, Finding("warning", "models", "only the built-in demo answers")]
    return [*found, Finding("ok", "models", ", ".join(names))]
