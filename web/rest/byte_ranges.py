"""The request header Range for one part of a file (RFC 9110, section 14). Pure."""

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
    """Return the requested range; None for the whole content. Raises ApiError if the content does not have the range.

    The whole content is sent without a range, or for a form that servers may ignore, such as several ranges.
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
