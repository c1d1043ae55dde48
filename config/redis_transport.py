"""Celery's Redis transport with one client for each channel. Named in celery_settings.py.

kombu builds a client for every command it sends, and redis-py's takes 0.2 ms to build: several for each task.
"""

from typing import Any

from kombu.transport import redis


class Channel(redis.Channel):
    _shared: Any = None  # the client and the pool it was built for

    def _create_client(self, asynchronous: bool = False) -> Any:
        if asynchronous:  # those belong to one connection each, and are kept by kombu
            return super()._create_client(asynchronous=True)  # type: ignore[misc]  # not in its stubs
        pool = self.pool
        if self._shared is None or self._shared[1] is not pool:
            self._shared = (super()._create_client(), pool)  # type: ignore[misc]
        return self._shared[0]


class Transport(redis.Transport):
    Channel = Channel
