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
    ready, reach = ready_lines(settings)
    assert ready.endswith("(log in as demo, password demo)")
    assert reach.startswith("only this machine can reach it")
    assert site_origin(settings).startswith("http://")


@pytest.mark.parametrize(
    ("changed", "address"),
    [
        ({}, "http://127.0.0.1:8123"),
        ({"PAGE_HOSTS": ["127.0.0.1", "localhost"]}, "http://localhost:8123"),
        ({"PAGE_HOSTS": ["127.0.0.1", "localhost"], "HOST": "0.0.0.0"}, "http://localhost:8123"),
        ({"PAGE_HOSTS": ["127.0.0.1", "localhost"], "DEVELOPMENT": True}, "http://localhost:8123"),
        ({"PAGE_HOSTS": ["localhost"]}, "http://localhost:8123"),
        ({"PAGE_HOSTS": ["[::1]"], "HOST": "::"}, "http://[::1]:8123"),
        ({"PAGE_HOSTS": ["10.0.0.5", "localhost"], "HOST": "10.0.0.5"}, "http://10.0.0.5:8123"),
        ({"PAGE_HOSTS": ["10.0.0.5"], "HOST": "0.0.0.0"}, "http://10.0.0.5:8123"),
        ({"PAGE_HOSTS": ["chat.lan"], "SITE_ORIGIN": "http://chat.lan:8123"}, "http://chat.lan:8123"),
        ({"PAGE_HOSTS": ["chat.lan", "127.0.0.1"], "SECURE_SSL_REDIRECT": True}, "https://chat.lan"),
        ({"PAGE_HOSTS": [".chat.lan"]}, "http://127.0.0.1:8123"),
    ],
)
def test_an_instance_is_ready_at_localhost_where_passkeys_work_or_where_it_listens_or_is_named(
    changed: dict[str, Any], address: str
) -> None:
    assert lines(**changed)[0].split("  ")[0] == f"ready: {address}"


def test_an_instance_of_this_machine_says_what_opens_it_to_others() -> None:
    _, reach = lines()
    assert reach == (
        "only this machine can reach it. For others, add a NAME of it to ALLOWED_HOSTS and set"
        " PUBLIC_URL=https://NAME (a proxy with TLS forwards to http://127.0.0.1:8123) or, on a network you trust,"
        " HOST=0.0.0.0 and PUBLIC_URL=http://NAME:8123"
    )
    _, reach = lines(HOST="0.0.0.0", PAGE_HOSTS=["localhost", "127.0.0.1"])
    assert reach.startswith(
        "web listens at 0.0.0.0 and refuses other names than localhost, 127.0.0.1. For others"
    )
    assert "HOST=" not in reach


def test_an_instance_of_a_network_says_that_others_reach_it_without_tls() -> None:
    _, reach = lines(HOST="0.0.0.0", PAGE_HOSTS=["10.0.0.5", "chat.lan"])
    assert reach == (
        "other machines can reach it at port 8123 as 10.0.0.5, chat.lan, without TLS: for networks you trust"
    )


def test_a_name_that_is_refused_is_said() -> None:
    [*_, last] = lines(SITE_ORIGIN="https://chat.example.org")
    assert last == "requests at https://chat.example.org are refused: add chat.example.org to ALLOWED_HOSTS"
    for names in (["chat.example.org"], [".example.org"], ["*"], ["Chat.Example.org"]):
        assert "refused" not in lines(SITE_ORIGIN="https://chat.example.org", PAGE_HOSTS=names)[-1]
    assert len(lines(HOST="::1", PAGE_HOSTS=["[::1]"])) == 2


def test_what_is_missing_before_a_public_name_works_is_named() -> None:
    ready, missing = lines(PAGE_HOSTS=["chat.example.org"], SECURE_SSL_REDIRECT=True)
    assert ready == "ready: https://chat.example.org"
    assert (
        "a proxy that terminates TLS and forwards to http://127.0.0.1:8123, which only this machine"
        in missing
    )
    assert "TRUSTED_PROXIES" in missing
    assert "PUBLIC_URL=http://127.0.0.1:8123" in missing
    chat = {"PAGE_HOSTS": ["chat.example.org", "chat.lan"]}
    _, missing = lines(SITE_ORIGIN="https://chat.example.org:8443", TRUSTED_PROXIES=["127.0.0.1/32"], **chat)
    assert "https://chat.example.org:8443 needs a proxy" in missing
    assert "TRUSTED_PROXIES" not in missing
    _, missing = lines(SITE_ORIGIN="http://chat.lan", **chat)
    assert missing.startswith("web listens at http://127.0.0.1:8123 alone")
    _, missing = lines(SITE_ORIGIN="http://chat.lan", HOST="0.0.0.0", **chat)
    assert missing == "http://chat.lan needs a proxy that forwards to http://127.0.0.1:8123, or another PORT"
