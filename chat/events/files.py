"""Tells all sockets of a user about the progress of the user's files, on one pub/sub channel per user.

The readers of a knowledge base are told that a document has made progress. The end of a file is published once: Redis
remembers for which files that has happened, so a crash between the publication and its record in Postgres repeats
nothing. A client that was away reads the file.
"""

import logging
from typing import Final

from redis.exceptions import RedisError

from chat.events import knowledge_bases, session_list
from chat.events.frames import FileFrame
from chat.infrastructure.redis_client import sync_redis
from chat.models import ModelConfig
from chat.presenters.files import describe_file
from chat.protocol.wire import encode
from knowledge.models import File

logger = logging.getLogger(__name__)

# Longer than the sweeper may be away.
REMEMBERED_S: Final = 86_400
# KEYS: the key that remembers the publication. ARGV: its seconds to live, line, channels.
_PUBLISH_ONCE: Final = """
if redis.call('SET', KEYS[1], '1', 'NX', 'EX', ARGV[1]) then
    for place = 3, #ARGV do redis.call('PUBLISH', ARGV[place], ARGV[2]) end
end
"""


def channel_name(user_id: int) -> str:
    return f"turnwire:user:{user_id}:files"


def encode_file(file: File) -> bytes:
    return encode(describe_file(file, ModelConfig.objects.offered(), FileFrame))


def publish_processing(file: File) -> None:
    """Publish that a file's text is going to be extracted: of a new file, for other tabs, or again. At most once."""
    encoded = _encode(file)
    try:
        for channel in _channels(file):
            sync_redis().publish(channel, encoded)
    except RedisError as error:
        logger.warning("file %s: that it is processed is not published: %s", file.pk, error)


def announce_end(file: File) -> bool:
    """Publish the committed end of a file, once. False: there is none to publish, or Redis fails.
    In the latter case the sweeper publishes it later."""
    stored = File.objects.filter(pk=file.pk).defer("text").first()
    if stored is None or stored.ended_at is None or stored.announced_at is not None:
        return False  # also if the file is read again meanwhile: that will end
    try:
        # Of this attempt: a file that is read again ends again.
        key = f"turnwire:file:{stored.pk}:{stored.attempt}:announced"
        sync_redis().eval(_PUBLISH_ONCE, 1, key, REMEMBERED_S, _encode(stored), *_channels(stored))
    except RedisError as error:
        logger.warning("file %s: its end is not published yet: %s", stored.pk, error)
        return False
    stored.record_announced()
    return True


def _encode(file: File) -> bytes:
    """Encode the message about a file. A document's message only says that its base has changed: members read the
    document as far as their role allows."""
    if file.knowledge_base_id:
        return knowledge_bases.encode_changed(file.knowledge_base_id)
    return encode_file(file)


def _channels(file: File) -> list[str]:
    """Return the channels to publish to; none for an image that a tool returned: the call announces it."""
    if file.is_tool_image:
        return []
    if file.knowledge_base_id:
        return [session_list.channel_name(one) for one in knowledge_bases.reader_ids(file.knowledge_base_id)]
    return [channel_name(file.owner_id)]
