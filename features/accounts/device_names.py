"""Readable names of browsers and systems from the User-Agent header, such as Firefox on Windows. Pure.

A table of common browsers suffices instead of a library of thousands of expressions: users know their own devices.
"""

import re
from typing import Final, NamedTuple

# The order matters: most browsers also name other browsers, whose pages they want to receive.
_BROWSERS: Final = (
    (r"\b(Edg|EdgA|EdgiOS)/", "Edge"),
    (r"\b(OPR|OPT|OPX)/", "Opera"),
    (r"\bSamsungBrowser/", "Samsung Internet"),
    (r"\bVivaldi/", "Vivaldi"),
    (r"\b(Firefox|FxiOS)/", "Firefox"),
    (r"\b(Chrome|CriOS)/", "Chrome"),
    (r"\bVersion/.*\bSafari/", "Safari"),
)
_SYSTEMS: Final = (
    (r"\biPhone\b", "iPhone"),
    (r"\biPad\b", "iPad"),
    (r"\bAndroid\b", "Android"),
    (r"\bWindows\b", "Windows"),
    (r"\bCrOS\b", "ChromeOS"),
    (r"\bMac OS X\b", "macOS"),
    (r"\bLinux\b", "Linux"),
)


class Device(NamedTuple):
    """A browser and its system. An empty string means unknown."""

    browser: str
    system: str


def read_device_name(user_agent: str) -> Device:
    return Device(_first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent))


def _first(table: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for pattern, name in table if re.search(pattern, user_agent)), "")
