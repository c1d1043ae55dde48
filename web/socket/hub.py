"""Distribution of Redis pub/sub messages to the sockets of this web process that are subscribed to each channel.

There is one pub/sub connection per process; a channel stays subscribed while any socket needs it. The hub parses
headers, never packets, and forwards the received bytes. Cursors and healing are in subscription.py.
"""

import asyncio
from typing import Final, Protocol
from weakref import WeakKeyDictionary

from chat.infrastructure.socket_registry import SocketRegistry
from chat.log.cursor import Header, parse_header
from chat.log.stream import session_channel
from web.socket.pubsub import PubSubConnection
from web.socket.watchdog import Watchdog

# The beginning of an encoded `stop` packet; in a text that quotes it, the quotes are escaped.
_STOP: Final = b'"obj":{"type":"stop",'
_STOP_WITHIN_BYTES: Final = 80


class Publication:
    """One message of a session's channel. name: the run's id, or "-" for the session's events."""

    __slots__ = ("has_stop", "header", "lines", "name")

    def __init__(self, payload: bytes) -> None:
        end = payload.index(b"\n")
        self.name, self.header = parse_header(payload, end)
        self.lines = payload[end + 1 :]
        self.has_stop = ends_with_stop(self.lines)

    @property
    def count(self) -> int:
        header: Header = self.header
        return header.last - header.first + 1

    def after(self, skip: int) -> bytes:
        """Return the lines without the first `skip`."""
        return self.lines.split(b"\n", skip)[skip]


def ends_with_stop(lines: bytes) -> bool:
    return lines.find(_STOP, -_STOP_WITHIN_BYTES) >= 0


class SessionSubscriber(Protocol):
    """The interface of receivers of one session's numbered publications."""

    def receive(self, publication: Publication) -> None: ...

    def heal_everything(self) -> None:
        """Read publications again that may have been missed."""


class ChannelListener(Protocol):
    """The interface of receivers of a channel that is not a session's: whole lines, without numbers."""

    def receive_lines(self, lines: bytes) -> None: ...

    def on_gap(self) -> None:
        """React to messages that may have been missed."""


class SessionTopic:
    """The subscribers of one session's channel."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.channel = session_channel(session)
        self.subscribers: list[SessionSubscriber] = []


class Hub:
    """The channels and subscribers of one event loop; current_hub() returns the running loop's."""

    def __init__(self) -> None:
        self.topics: dict[str, SessionTopic] = {}
        self.listeners: dict[str, list[ChannelListener]] = {}
        self.watchdog = Watchdog()
        self.sockets = SocketRegistry()
        self._pubsub = PubSubConnection(self._distribute, self._heal_all)

    async def join(self, session: str, subscriber: SessionSubscriber) -> None:
        """Subscribe to the session; return once every later publication reaches the subscriber."""
        channel = session_channel(session)
        topic = self.topics.setdefault(channel, SessionTopic(session))
        topic.subscribers.append(subscriber)
        # This applies to a second socket too: the SUBSCRIBE of the first may not be confirmed yet.
        await self._pubsub.subscribe(channel)

    def leave(self, session: str, subscriber: SessionSubscriber) -> None:
        channel = session_channel(session)
        topic = self.topics.get(channel)
        if topic and subscriber in topic.subscribers:
            topic.subscribers.remove(subscriber)
            if not topic.subscribers:
                del self.topics[channel]
                self._pubsub.unsubscribe(channel)

    async def listen(self, channel: str, listener: ChannelListener) -> None:
        """Listen to the channel; return once every later publication reaches the listener."""
        self.listeners.setdefault(channel, []).append(listener)
        await self._pubsub.subscribe(channel)

    def stop_listening(self, channel: str, listener: ChannelListener) -> None:
        listeners = self.listeners.get(channel, [])
        if listener in listeners:
            listeners.remove(listener)
            if not listeners:
                del self.listeners[channel]
                self._pubsub.unsubscribe(channel)

    async def close(self) -> None:
        await self._pubsub.close()
        await self.sockets.close()
        self.topics.clear()
        self.listeners.clear()

    def _distribute(self, channel: str, payload: bytes) -> None:
        topic = self.topics.get(channel)
        if topic:
            publication = Publication(payload)
            for subscriber in topic.subscribers:
                subscriber.receive(publication)
        for listener in self.listeners.get(channel, ()):
            listener.receive_lines(payload)

    def _heal_all(self) -> None:
        for listeners in self.listeners.values():
            for listener in listeners:
                listener.on_gap()
        for topic in self.topics.values():
            for subscriber in topic.subscribers:
                subscriber.heal_everything()


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def current_hub() -> Hub:
    """Return the hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]
