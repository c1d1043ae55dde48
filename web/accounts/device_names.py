"""What a browser is, from what it calls itself: Firefox on Windows. Pure.

A table of what people use, not a library of thousands of expressions: who reads it knows the own devices.
"""

import re
from typing import Final, NamedTuple

# In this order: most browsers name others as well, whose pages they want to receive.
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
    """Empty: not known."""

    browser: str
    system: str


def read_device_name(user_agent: str) -> Device:
    return Device(_first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent))


def _first(table: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for pattern, name in table if re.search(pattern, user_agent)), "")
