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
PRODUCTION = {"SECRET_KEY": "k" * 50, "ALLOWED_HOSTS": "127.0.0.1", "SECURE_SSL_REDIRECT": "0"}


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[LaunchedInstance]:
    instance = started(tmp_path)
    yield instance
    instance.stop()


def started(directory: Path, data: Path | None = None) -> LaunchedInstance:
    """Without DEBUG, to the last line that a start prints."""
    instance = LaunchedInstance(directory, data=data, **PRODUCTION)
    instance.launch()
    instance.wait_until(lambda: "Ctrl-C stops everything" in instance.log_text, "the start")
    return instance


def printed_link(instance: LaunchedInstance) -> str:
    found = re.search(rf"{PRINTED}({re.escape(instance.address)}/setup/\S+)", instance.log_text)
    assert found, instance.log_text[-3000:]
    return found[1]


def submit(client: httpx2.Client, link: str, **fields: str) -> httpx2.Response:
    """Send the form that is there. The proxy that ends TLS is missing, so that cookies for TLS are sent by hand."""
    page = client.get(link)
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert token, page.text
    cookies = {"Cookie": f"csrftoken={page.cookies['csrftoken']}"}
    return client.post(link, data=fields | {"csrfmiddlewaretoken": token[1]}, headers=cookies)


def test_the_printed_link_makes_the_first_admin_and_no_later_start_prints_one(
    instance: LaunchedInstance, tmp_path: Path
) -> None:
    link = printed_link(instance)
    with httpx2.Client(timeout=60, trust_env=False) as browser:
        made = submit(browser, link, username="root", email="", password1=PASSWORD, password2=PASSWORD)
        assert (made.status_code, made.headers["Location"]) == (302, "/login/?notice=account")
        assert browser.get(link).status_code == 404
        entered = submit(browser, f"{instance.address}/login/", username="root", password=PASSWORD)
        assert entered.status_code == 302
        login = {"Cookie": f"sessionid={entered.cookies['sessionid']}"}
        assert browser.get(f"{instance.address}/admin/", headers=login).status_code == 200
    assert instance.stop() == 0
    again = started(tmp_path, instance.data)
    try:
        assert PRINTED not in again.log_text
    finally:
        again.stop()
