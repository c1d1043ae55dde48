"""Refuses services that look as if they worked, at the start of each process of the Procfile: one line and status 78.

A service that is away is no reason: the processes wait for it.
"""

from typing import Any, Final

from django.conf import settings
from redis import Redis, RedisError

from config import environment as env

TIMEOUT_S: Final = 2.0
NO_CLUSTER: Final = (
    "is a node of a Redis Cluster, which is not supported: use one Redis, with replicas for a failover"
)


def check() -> None:
    _refuse_cluster("REDIS_URL", settings.REDIS_URL)
    broker = settings.CELERY_BROKER_URL
    if broker.startswith("redis") and broker != settings.REDIS_URL:
        _refuse_cluster("CELERY_BROKER_URL", broker)


def is_cluster_node(client: Redis) -> bool:
    """Such a node replies, but refuses the keys of other nodes: answers would never show. Raises RedisError."""
    info: Any = client.info("cluster")
    return bool(info.get("cluster_enabled"))


def _refuse_cluster(name: str, url: str) -> None:
    try:
        with Redis.from_url(url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S) as client:
            is_refused = is_cluster_node(client)
    except (RedisError, OSError):  # away, or its user may not ask
        return
    if is_refused:
        env.fail(name, NO_CLUSTER)
