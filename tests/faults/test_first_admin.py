"""The link for the first admin, as a start prints it: it makes one, once, in what was started."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.instance import LaunchedInstance

pytestmark = [pytest.mark.fault, pytest.mark.timeout(400)]

PRINTED = "make the first admin at "
PASSWORD = "correct horse battery"
PRODUCTION = {"SECRET_KEY": "k" * 50, "ALLOWED_HOSTS": "127.0.0.1"}


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[LaunchedInstance]:
    instance = started(tmp_path)
    yield instance
    instance.stop()


def started(directory: Path, data: Path | None = None, **more: str) -> LaunchedInstance:
    """Without DEBUG, to the last line that a start prints."""
    instance = LaunchedInstance(directory, data=data, **PRODUCTION | more)
    instance.launch()
    instance.wait_until(lambda: "Ctrl-C stops everything" in instance.log_text, "the start")
    return instance


class Proxy(httpx2.HTTPTransport):
    """What terminates TLS in front of an instance, seen from a client of the proxy."""

    def __init__(self, instance: LaunchedInstance) -> None:
        super().__init__()
        self._upstream = httpx2.URL(instance.address)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        assert request.url.scheme == "https"
        url = request.url.copy_with(scheme="http", host=self._upstream.host, port=self._upstream.port)
        headers = {**request.headers, "X-Forwarded-Proto": "https"}
        forwarded = httpx2.Request(request.method, url, headers=headers, content=request.read())
        return super().handle_request(forwarded)


def printed_link(instance: LaunchedInstance, origin: str) -> str:
    found = re.search(rf"{PRINTED}({re.escape(origin)}/setup/\S+)", instance.log_text)
    assert found, instance.log_text[-3000:]
    return found[1]


def submit(client: httpx2.Client, link: str, **fields: str) -> httpx2.Response:
    """Send the form that is there, as a browser does."""
    page = client.get(link)
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert token, page.text
    origin = {"Origin": link[: link.index("/", len("https://"))]}
    return client.post(link, data=fields | {"csrfmiddlewaretoken": token[1]}, headers=origin)


def make_admin(client: httpx2.Client, origin: str, link: str) -> None:
    """From the printed link to the admin's own pages."""
    made = submit(client, link, username="root", email="", password1=PASSWORD, password2=PASSWORD)
    assert (made.status_code, made.headers["Location"]) == (302, "/")
    assert client.get(link).status_code == 404
    assert client.get(f"{origin}/admin/").status_code == 200


def test_the_printed_link_makes_the_first_admin_and_no_later_start_prints_one(
    instance: LaunchedInstance, tmp_path: Path
) -> None:
    link = printed_link(instance, instance.address)
    with httpx2.Client(timeout=60, trust_env=False) as browser:
        make_admin(browser, instance.address, link)
    assert instance.stop() == 0
    again = started(tmp_path, instance.data)
    try:
        assert PRINTED not in again.log_text
    finally:
        again.stop()


def test_behind_a_proxy_with_tls_the_link_at_the_public_address_makes_the_first_admin(tmp_path: Path) -> None:
    origin = "https://chat.example.test:8443"
    names = {"PUBLIC_URL": origin, "ALLOWED_HOSTS": "chat.example.test", "TRUSTED_PROXIES": "127.0.0.1"}
    instance = started(tmp_path, **names)
    try:
        assert f"ready: {origin}\n" in instance.log_text
        assert f"terminates TLS and forwards to {instance.address}" in instance.log_text
        with httpx2.Client(timeout=60, transport=Proxy(instance)) as browser:
            make_admin(browser, origin, printed_link(instance, origin))
    finally:
        instance.stop()
