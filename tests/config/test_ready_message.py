"""What a start says of where the instance is reached."""

from types import SimpleNamespace
from typing import Any

import pytest

from config import settings
from config.ready_message import ready_lines
from web.site_origin import site_origin

pytestmark = pytest.mark.pure


def lines(**changed: Any) -> list[str]:
    usual = {
        "DEVELOPMENT": False,
        "SITE_ORIGIN": "",
        "PAGE_HOSTS": ["127.0.0.1"],
        "HOST": "127.0.0.1",
        "PORT": 8123,
        "SECURE_SSL_REDIRECT": False,
        "TRUSTED_PROXIES": [],
    }
    return list(ready_lines(SimpleNamespace(**usual | changed)))


def test_the_settings_of_an_instance_for_development_are_enough() -> None:
    """Those of the tests are."""
    assert settings.DEVELOPMENT
    [ready] = ready_lines(settings)
    assert ready.endswith("(log in as demo, password demo)")
    assert site_origin(settings).startswith("http://")


def test_an_instance_of_this_machine_is_ready_where_it_listens() -> None:
    assert lines() == ["ready: http://127.0.0.1:8123"]
    assert lines(PAGE_HOSTS=["localhost", "127.0.0.1"]) == ["ready: http://127.0.0.1:8123"]
    assert lines(PAGE_HOSTS=["localhost"])[0] == "ready: http://localhost:8123"
    assert lines(HOST="::", PAGE_HOSTS=["[::1]"]) == ["ready: http://[::1]:8123"]


def test_an_instance_of_a_network_is_ready_under_its_name() -> None:
    assert lines(HOST="0.0.0.0", PAGE_HOSTS=["10.0.0.5"]) == ["ready: http://10.0.0.5:8123"]
    assert lines(HOST="0.0.0.0", SITE_ORIGIN="http://chat.lan:8123") == ["ready: http://chat.lan:8123"]


def test_what_is_missing_before_a_public_name_works_is_named() -> None:
    ready, missing = lines(PAGE_HOSTS=["chat.example.org"], SECURE_SSL_REDIRECT=True)
    assert ready == "ready: https://chat.example.org"
    assert "a proxy that terminates TLS and forwards to http://127.0.0.1:8123" in missing
    assert "TRUSTED_PROXIES" in missing
    assert "PUBLIC_URL=http://127.0.0.1:8123" in missing
    _, missing = lines(SITE_ORIGIN="https://chat.example.org:8443", TRUSTED_PROXIES=["127.0.0.1/32"])
    assert "https://chat.example.org:8443 needs a proxy" in missing
    assert "TRUSTED_PROXIES" not in missing
    _, missing = lines(SITE_ORIGIN="http://chat.lan")
    assert missing.startswith("web listens at http://127.0.0.1:8123 alone")


def test_in_development_the_demo_account_is_named() -> None:
    assert lines(DEVELOPMENT=True) == ["ready: http://127.0.0.1:8123  (log in as demo, password demo)"]
