"""The header Range of a request for one part of a file (RFC 9110, section 14). Pure."""

import re
from typing import Final, NamedTuple

from chat.protocol.errors import ApiError

# Longer numbers are no positions in any file.
_ONE_RANGE: Final = re.compile(r"bytes=(\d{0,19})-(\d{0,19})")


class ByteRange(NamedTuple):
    """The bytes from `start` to before `stop`."""

    start: int
    stop: int


def parse_range(header: str, size: int) -> ByteRange | None:
    """None if the whole content is to be sent: no range, or one of a form that servers may ignore, such as several.

    Raises ApiError if the content does not have the range.
    """
    match = _ONE_RANGE.fullmatch(header.strip())
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if first and last and int(first) > int(last):
        return None
    start = int(first) if first else max(0, size - int(last))
    stop = min(size, int(last) + 1) if first and last else size
    if start >= size:
        raise ApiError("invalid_range", size=size)
    return ByteRange(start, stop)
