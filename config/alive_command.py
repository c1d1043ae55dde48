"""`turnwire alive KIND`: whether a process of that kind lives on this host, for probes. Exit status 0 or 1.

A worker that has not reported itself for PRESENT_S is dead or frozen. While Redis is away nobody can tell: then all
count as alive, since a restart would only lose work. Web answers itself. Does not set up Django, which takes seconds of
a processor.
"""

import http.client
import os
import socket
import sys
import urllib.request
from collections.abc import Iterable

from redis.exceptions import RedisError

TIMEOUT_S = 5.0


def main(kind: str) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    problem = _problem_of_web() if kind == "web" else _problem_of_worker(kind)
    if problem:
        sys.stderr.write(f"{kind}: {problem}\n")
    return int(bool(problem))


def _problem_of_web() -> str:
    from django.conf import settings

    from web.site_origin import listening_address

    # Without a proxy in between.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(f"{listening_address(settings)}/health/live", timeout=TIMEOUT_S).close()
    except (OSError, http.client.HTTPException) as error:
        return f"does not answer ({error})"
    return ""


def _problem_of_worker(kind: str) -> str:
    from chat.metrics.presence import live_processes

    try:
        processes = live_processes()
    except RedisError:
        return ""
    return find_problem(kind, ((process.role, process.host) for process in processes))


def find_problem(kind: str, processes: Iterable[tuple[str, str]]) -> str:
    """Return why no process of this kind lives on this host; empty if one does.
    processes: role and host of all live ones.
    """
    host = socket.gethostname()
    return "" if (kind, host) in processes else f"no process on {host} has said that it lives"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
