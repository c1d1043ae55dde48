"""Everything this web process hears from Redis, handed to the sockets that asked for it, as the bytes it came in.

One pub/sub connection per process; a channel is held while any socket wants its session. The hub reads
headers, never packets. Where each subscriber stands, and healing, is socket/subscription.py.
"""

import asyncio
from typing import Final, Protocol
from weakref import WeakKeyDictionary

from chat.log.cursor import Header, parse_header
from chat.log.stream import session_channel
from web.socket.pubsub import PubSubLink
from web.socket.watchdog import Watch

# How `stop` looks at the end of a publication; a text that quotes it has its quotes escaped.
_STOP: Final = b'"obj":{"type":"stop",'
_STOP_WITHIN_BYTES: Final = 80


class Publication:
    """One message of a session's channel. name: the run, or "-" for the session's events."""

    __slots__ = ("header", "lines", "name", "stops")

    def __init__(self, payload: bytes) -> None:
        end = payload.index(b"\n")
        self.name, self.header = parse_header(payload, end)
        self.lines = payload[end + 1 :]
        self.stops = ends_with_stop(self.lines)

    @property
    def count(self) -> int:
        header: Header = self.header
        return header.last - header.first + 1

    def after(self, skip: int) -> bytes:
        """The lines without the first `skip`."""
        return self.lines.split(b"\n", skip)[skip]


def ends_with_stop(lines: bytes) -> bool:
    return lines.find(_STOP, -_STOP_WITHIN_BYTES) >= 0


class Subscriber(Protocol):
    def take(self, publication: Publication) -> None: ...

    def heal_everything(self) -> None: ...


class Listener(Protocol):
    """Hears a channel that is not a session's: whole lines, without numbers."""

    def hear(self, lines: bytes) -> None: ...

    def miss(self) -> None:
        """Something may not have been heard."""


class Topic:
    """One session some socket is subscribed to."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.channel = session_channel(session)
        self.subscribers: list[Subscriber] = []


class Hub:
    """Use current_hub(): one per event loop."""

    def __init__(self) -> None:
        self.topics: dict[str, Topic] = {}
        self.listeners: dict[str, list[Listener]] = {}
        self.watch = Watch()
        self._link = PubSubLink(self._take, self._restored)

    async def join(self, session: str, subscriber: Subscriber) -> None:
        """Returns once everything published in the session from now on reaches the subscriber."""
        channel = session_channel(session)
        topic = self.topics.setdefault(channel, Topic(session))
        topic.subscribers.append(subscriber)
        # Also for a second socket: the first one's SUBSCRIBE may not be confirmed yet.
        await self._link.subscribe(channel)

    def leave(self, session: str, subscriber: Subscriber) -> None:
        channel = session_channel(session)
        topic = self.topics.get(channel)
        if topic and subscriber in topic.subscribers:
            topic.subscribers.remove(subscriber)
            if not topic.subscribers:
                del self.topics[channel]
                self._link.unsubscribe(channel)

    async def listen(self, channel: str, listener: Listener) -> None:
        """Returns once everything published on the channel from now on reaches the listener."""
        self.listeners.setdefault(channel, []).append(listener)
        await self._link.subscribe(channel)

    def stop_listening(self, channel: str, listener: Listener) -> None:
        listeners = self.listeners.get(channel, [])
        if listener in listeners:
            listeners.remove(listener)
            if not listeners:
                del self.listeners[channel]
                self._link.unsubscribe(channel)

    async def close(self) -> None:
        await self._link.close()
        self.topics.clear()
        self.listeners.clear()

    def _take(self, channel: str, payload: bytes) -> None:
        topic = self.topics.get(channel)
        if topic:
            publication = Publication(payload)
            for subscriber in topic.subscribers:
                subscriber.take(publication)
        for listener in self.listeners.get(channel, ()):
            listener.hear(payload)

    def _restored(self) -> None:
        for listeners in self.listeners.values():
            for listener in listeners:
                listener.miss()
        for topic in self.topics.values():
            for subscriber in topic.subscribers:
                subscriber.heal_everything()


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def current_hub() -> Hub:
    """The hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]
