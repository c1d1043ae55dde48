"""Browsers are named as people know them."""

import pytest

from features.accounts.logins import read_device_name

pytestmark = pytest.mark.pure

MOZILLA = "Mozilla/5.0"
LIKE = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (f"{MOZILLA} (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        (
            f"{MOZILLA} (Windows NT 10.0; Win64; x64) {LIKE} Chrome/140.0.0.0 Safari/537.36",
            "Chrome on Windows",
        ),
        (
            f"{MOZILLA} (Windows NT 10.0; Win64; x64) {LIKE} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
            "Edge on Windows",
        ),
        (
            f"{MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) {LIKE} Version/18.5 Safari/605.1.15",
            "Safari on macOS",
        ),
        (
            f"{MOZILLA} (iPhone; CPU iPhone OS 18_5 like Mac OS X) {LIKE} Version/18.5 Mobile/15E148 Safari/604.1",
            "Safari on iPhone",
        ),
        (
            f"{MOZILLA} (iPad; CPU OS 18_5 like Mac OS X) {LIKE} CriOS/140.0 Mobile/15E148 Safari/604.1",
            "Chrome on iPad",
        ),
        (
            f"{MOZILLA} (Linux; Android 10; K) {LIKE} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
            "Samsung Internet on Android",
        ),
        (f"{MOZILLA} (X11; CrOS x86_64) {LIKE} Chrome/140.0 Safari/537.36 OPR/120.0", "Opera on ChromeOS"),
        ("a script that names Windows", "Windows"),
        ("curl/8.5.0", ""),
        ("", ""),
    ],
)
def test_browser_and_system_are_named(user_agent: str, name: str) -> None:
    assert " on ".join(filter(None, read_device_name(user_agent))) == name
