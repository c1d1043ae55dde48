"""When a login, a token or an account ends, everything that uses it ends: sockets, runs, links."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client as Browser
from knox.models import AuthToken
from rest_framework.test import APIClient

from chat.infrastructure.redis_client import sync_redis
from chat.models import Login, ModelConfig, Run, Session
from chat.protocol.states import Status
from tests import factories, sockets

pytestmark = pytest.mark.django_db(transaction=True)

# Below the time after which a socket checks by itself: what closes it sooner is the announcement.
SOON_S = 8
PASSWORD = "correct horse battery"
NEW = "a new and better one"


@pytest_asyncio.fixture
async def address():
    async with sockets.web() as address:
        yield address


class Person:
    """A user with a browser and a token."""

    def __init__(self, name: str, **fields: Any) -> None:
        self.user = User.objects.create_user(name, password=PASSWORD, **fields)
        self.browser = Browser()
        self.browser.force_login(self.user)
        self.row, token = AuthToken.objects.create(self.user)
        self.token = {"Authorization": f"Token {token}"}
        self.cookie = {"Cookie": f"sessionid={self.browser.cookies['sessionid'].value}"}


@pytest.fixture
def alice(transactional_db) -> Person:
    sync_redis().flushdb()
    ModelConfig.objects.create(name="model", is_default=True)
    return Person("alice")


@pytest.fixture
def root(transactional_db) -> Browser:
    browser = Browser()
    browser.force_login(User.objects.create_superuser("root", password=PASSWORD))
    return browser


def change_password(browser: Browser, **fields: str) -> Any:
    both = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    return browser.post("/password/", both | fields)


def edit_in_the_admin(root: Browser, person: Person, **fields: str) -> None:
    form = root.get(f"/admin/auth/user/{person.user.pk}/change/").context["adminform"].form
    stored = {name: form[name].value() for name in ("username", "first_name", "last_name", "email")}
    date = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    answer = root.post(f"/admin/auth/user/{person.user.pk}/change/", stored | date | fields)
    assert answer.status_code == 302, answer.context["errors"]


def delete_token(person: Person) -> None:
    (row,) = person.browser.get("/api/auth/tokens/").json()
    csrf = person.browser.cookies["csrftoken"].value if "csrftoken" in person.browser.cookies else ""
    answer = person.browser.delete(f"/api/auth/tokens/{row['id']}/", headers={"X-CSRFToken": csrf})
    assert answer.status_code == 204


def new_password_in_the_admin(root: Browser, person: Person) -> None:
    fields = {"password1": NEW, "password2": NEW, "usable_password": "true"}
    assert root.post(f"/admin/auth/user/{person.user.pk}/password/", fields).status_code == 302


def log_out_of_the_admin(person: Person) -> None:
    User.objects.filter(pk=person.user.pk).update(is_staff=True)
    assert person.browser.post("/admin/logout/").status_code == 302


def end_from_another_browser(person: Person, *, chosen: str = "") -> None:
    """chosen: `others`, or the one login."""
    assert person.browser.get("/profile/").status_code == 200
    one = Login.objects.get(session=person.browser.session.session_key).pk
    elsewhere = Browser()
    elsewhere.force_login(person.user)
    assert elsewhere.post("/profile/logins/", {"login": chosen or one}).status_code == 302


ENDS: dict[str, tuple[str, Callable[[Browser, Person], Any]]] = {
    "token deleted": ("token", lambda _root, person: delete_token(person)),
    "token deleted by staff": (
        "token",
        lambda root, person: root.post(f"/admin/knox/authtoken/{person.row.pk}/delete/", {"post": "yes"}),
    ),
    "password and tokens": (
        "token",
        lambda _root, person: change_password(person.browser, deletes_tokens="on"),
    ),
    "password changed": ("cookie", lambda _root, person: change_password(person.browser)),
    "password changed by staff": ("cookie", new_password_in_the_admin),
    "logged out": ("cookie", lambda _root, person: person.browser.post("/logout/")),
    "logged out of the admin": ("cookie", lambda _root, person: log_out_of_the_admin(person)),
    "ended from another browser": ("cookie", lambda _root, person: end_from_another_browser(person)),
    "logged out everywhere else": (
        "cookie",
        lambda _root, person: end_from_another_browser(person, chosen="others"),
    ),
    "deactivated, by token": ("token", edit_in_the_admin),
    "deactivated, by cookie": ("cookie", edit_in_the_admin),
}


@pytest.mark.parametrize("end", ENDS)
async def test_a_socket_is_closed_at_once(address: str, alice: Person, root: Browser, end: str) -> None:
    how, act = ENDS[end]
    session = await sync_to_async(Session.objects.start)(alice.user)
    headers = alice.token if how == "token" else {"Origin": f"http://{address}", **alice.cookie}
    async with sockets.socket(address, **headers) as client:
        await client.ask(type="subscribe", session=str(session.pk))
        await sync_to_async(act)(root, alice)
        async with asyncio.timeout(SOON_S):
            assert await client.close_code() == 4401


async def test_others_and_other_logins_of_the_user_stay_open(
    address: str, alice: Person, root: Browser
) -> None:
    mallory = await sync_to_async(Person)("mallory")
    async with (
        sockets.socket(address, **alice.token) as with_token,
        sockets.socket(address, **mallory.token) as of_another,
    ):
        assert (await with_token.ask(type="ping"))["type"] == "pong"
        await sync_to_async(alice.browser.post)("/logout/")
        await sync_to_async(change_password)(mallory.browser)
        assert (await with_token.ask(type="ping"))["type"] == "pong"
        assert (await of_another.ask(type="ping"))["type"] == "pong"


async def test_a_change_that_nobody_announced_is_found_by_the_check_itself(
    address: str, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.socket.access_watch.RECHECK_S", 0.2)
    async with sockets.socket(address, **alice.token) as client:
        await client.ask(type="ping")
        await sync_to_async(User.objects.filter(pk=alice.user.pk).update)(is_active=False)
        async with asyncio.timeout(SOON_S):
            assert await client.close_code() == 4401


def test_deactivating_a_user_stops_what_is_being_answered(alice: Person, root: Browser) -> None:
    client = factories.api_client(alice.user)
    runs = []
    for number in range(2):
        session = str(Session.objects.start(alice.user).pk)
        runs.append(factories.send_turn(client, session, f"Question {number}").json()["runs"][0]["id"])
    claimed = Run.objects.claim(runs[0], owner=1)
    assert claimed is not None
    edit_in_the_admin(root, alice)
    assert not User.objects.get(pk=alice.user.pk).is_active
    assert Run.objects.get(pk=runs[0]).status == Status.STOPPING  # its worker writes the end
    assert Run.objects.get(pk=runs[1]).status == Status.STOPPED


def test_the_sweeper_stops_the_runs_of_a_user_deactivated_by_other_means(alice: Person) -> None:
    from chat.sweeper.runs import sweep

    session = str(Session.objects.start(alice.user).pk)
    first = factories.send_turn(factories.api_client(alice.user), session).json()["runs"][0]["id"]
    sweep(trust_locks=False)
    assert Run.objects.get(pk=first).status == Status.QUEUED
    User.objects.filter(pk=alice.user.pk).update(is_active=False)
    sweep(trust_locks=False)
    assert Run.objects.get(pk=first).status == Status.STOPPED


def test_shared_links_of_a_deactivated_user_are_closed_until_the_user_is_active_again(alice: Person) -> None:
    client = factories.api_client(alice.user)
    session = str(Session.objects.start(alice.user).pk)
    factories.complete_turn(client, session)
    url = client.post(f"/api/sessions/{session}/shares/", {}, format="json").json()["url"]
    path = "/shared/" + url.rstrip("/").rpartition("/")[2] + "/"

    def statuses() -> list[int]:
        found = []
        for is_active in (True, False, True):
            User.objects.filter(pk=alice.user.pk).update(is_active=is_active)
            found.append(Browser().get(path).status_code)
        return found

    assert statuses() == [200, 404, 200]


def test_changing_the_password_ends_other_logins_and_keeps_this_one(alice: Person) -> None:
    other = Browser()
    other.force_login(alice.user)
    assert change_password(alice.browser).status_code == 302
    assert alice.browser.get("/api/sessions/").status_code == 200
    assert other.get("/api/sessions/").status_code == 401
    assert Browser().login(username="alice", password=NEW)


@pytest.mark.parametrize(("choice", "status"), [({}, 200), ({"deletes_tokens": "on"}, 401)])
def test_tokens_end_with_the_password_by_choice(alice: Person, choice: dict[str, str], status: int) -> None:
    robot = APIClient()
    robot.credentials(HTTP_AUTHORIZATION=alice.token["Authorization"])
    assert change_password(alice.browser, **choice).status_code == 302
    assert robot.get("/api/sessions/").status_code == status


@pytest.mark.parametrize(
    "fields",
    [
        {"old_password": "wrong"},
        {"new_password1": "short", "new_password2": "short"},
        {"new_password1": "password123", "new_password2": "password123"},
        {"new_password1": "31415926535897", "new_password2": "31415926535897"},
        {"new_password2": "another one than the first"},
    ],
)
def test_a_weak_password_or_a_wrong_current_one_changes_nothing(
    alice: Person, fields: dict[str, str]
) -> None:
    answer = change_password(alice.browser, **fields)
    assert answer.status_code == 200
    assert 'role="alert"' in answer.content.decode()
    assert User.objects.get(pk=alice.user.pk).check_password(PASSWORD)


def test_the_current_password_is_guessed_no_faster_than_at_the_login(alice: Person) -> None:
    tries = [change_password(alice.browser, old_password=f"wrong {n}").status_code for n in range(10)]
    assert tries == [200] * 8 + [429] * 2


def test_the_password_page_needs_a_login(db: None) -> None:
    answer = Browser().get("/password/")
    assert (answer.status_code, answer["Location"]) == (302, "/login/?next=/password/")
