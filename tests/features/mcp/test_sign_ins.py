"""Signing in to MCP servers by REST and over the pages: who may, in which browser, and once. Workers are not asked here."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat.infrastructure.encryption import decrypt, encrypt
from chat.models import McpCredential, McpServer, McpSignIn
from chat.models.mcp_sign_in import SignInStatus
from features.mcp import sign_ins
from features.mcp import tool_lists as servers
from tests import factories

pytestmark = pytest.mark.django_db

AWAY = "https://auth.example.com/authorize?client_id=1"


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What workers were told to do."""
    sent: list[str] = []
    monkeypatch.setattr(sign_ins, "_advance", lambda sign_in: sent.append(f"advance {sign_in.status}"))
    monkeypatch.setattr(servers, "_send", lambda server, _: sent.append(f"list {server.name}"))
    return sent


@pytest.fixture
def server() -> McpServer:
    return McpServer.objects.create(
        name="tides", transport="http", url="https://mcp.example.com/mcp", status="needs_sign_in"
    )


@pytest.fixture
def alice() -> User:
    return factories.create_user("alice")


def path_of(server: McpServer) -> str:
    return f"/api/mcp-servers/{server.pk}/sign-in/"


def browser_of(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def begin(user: User, server: McpServer) -> str:
    """The path of the page that leads away."""
    begun = factories.api_client(user).post(path_of(server), {}, format="json")
    assert begun.status_code == 201
    return "/" + str(begun.json()["url"]).split("/", 3)[3]


def prepare() -> McpSignIn:
    """As a worker does."""
    McpSignIn.objects.update(status=SignInStatus.READY, address=AWAY, encrypted_flow=encrypt("{}"))
    return McpSignIn.objects.get()


def state_of(user: User) -> str:
    return str(factories.api_client(user).get("/api/mcp-servers/").json()[0]["sign_in_state"])


def test_a_browser_waits_until_it_is_led_away(server: McpServer, alice: User, asked: list[str]) -> None:
    page, browser = begin(alice, server), browser_of(alice)
    assert asked == ["advance preparing"]
    waiting = browser.get(page)
    assert (waiting.status_code, waiting["Refresh"]) == (200, f"1; url={page}")
    prepare()
    led = browser.get(page)
    assert (led.status_code, led["Location"]) == (302, AWAY)


def test_what_the_browser_comes_back_with_is_taken_once(
    server: McpServer, alice: User, asked: list[str]
) -> None:
    page, browser = begin(alice, server), browser_of(alice)
    state = prepare().state
    browser.get(page)
    for _ in range(2):  # it is loaded again
        back = browser.get(
            "/mcp/callback/", {"state": state, "code": "tide-code", "iss": "https://auth.example.com"}
        )
        assert (back.status_code, back["Location"]) == (302, page)
    assert asked == ["advance preparing", "advance ready"]
    row = McpSignIn.objects.get()
    assert row.status == SignInStatus.EXCHANGING
    assert "tide-code" not in row.encrypted_answer
    assert "tide-code" in decrypt(row.encrypted_answer)


def wrong_state(state: str, alice: User, browser: Client) -> tuple[Client, str]:
    return browser, f"{state}x"


def another_browser(state: str, alice: User, browser: Client) -> tuple[Client, str]:
    return browser_of(alice), state


def another_user(state: str, alice: User, browser: Client) -> tuple[Client, str]:
    return browser_of(factories.create_user("mallory")), state


@pytest.mark.parametrize("change", [wrong_state, another_browser, another_user])
def test_nobody_else_brings_an_answer(server: McpServer, alice: User, change: Any) -> None:
    page, browser = begin(alice, server), browser_of(alice)
    state = prepare().state
    browser.get(page)
    client, given = change(state, alice, browser)
    assert client.get("/mcp/callback/", {"state": given, "code": "c"}).status_code == 400
    assert McpSignIn.objects.get().status == SignInStatus.READY


def test_a_state_that_no_sign_in_can_have_is_refused(alice: User) -> None:
    for state in ("", "\0", "\ud800".encode("utf-8", "surrogatepass"), "s" * 5_000):
        assert browser_of(alice).get("/mcp/callback/", {"state": state, "code": "c"}).status_code == 400


def test_an_answer_is_not_taken_of_a_browser_that_was_never_led_away(server: McpServer, alice: User) -> None:
    begin(alice, server)
    state = prepare().state
    assert browser_of(alice).get("/mcp/callback/", {"state": state, "code": "c"}).status_code == 400


def test_a_sign_in_is_seen_by_its_user_alone_and_not_for_long(server: McpServer, alice: User) -> None:
    page = begin(alice, server)
    prepare()
    assert browser_of(factories.create_user("mallory")).get(page).status_code == 400
    assert Client().get(page)["Location"].startswith("/login/")
    McpSignIn.objects.update(expires_at=timezone.now())
    assert browser_of(alice).get(page).status_code == 400


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ({"status": SignInStatus.DONE}, 200, "You are signed in to tides"),
        ({"status": SignInStatus.FAILED, "problem": "<b>no</b>"}, 502, "&lt;b&gt;no&lt;/b&gt;"),
    ],
)
def test_the_page_says_how_it_ended(
    server: McpServer, alice: User, fields: dict[str, str], status: int, said: str
) -> None:
    page = begin(alice, server)
    McpSignIn.objects.update(**fields)
    shown = browser_of(alice).get(page)
    assert shown.status_code == status
    assert said in shown.content.decode()


def test_each_user_is_told_whether_they_have_to_sign_in(server: McpServer, alice: User) -> None:
    bob = factories.create_user("bob")
    assert state_of(alice) == "needs_sign_in"
    pending = McpSignIn.objects.begin(alice, server, "https://chat.example.com/mcp/callback/")
    McpCredential.objects.store(pending, "https://auth.example.com", {"access_token": "token"})
    # A listing with her token has succeeded.
    McpServer.objects.update(status="ready")
    assert (state_of(alice), state_of(bob)) == ("signed_in", "needs_sign_in")
    assert factories.api_client(bob).delete(path_of(server)).status_code == 204
    assert state_of(alice) == "signed_in"
    assert factories.api_client(alice).delete(path_of(server)).status_code == 204
    assert state_of(bob) == "not_needed"


def test_only_a_sign_out_of_who_was_signed_in_makes_work_for_a_worker(
    server: McpServer, alice: User, django_capture_on_commit_callbacks: Any
) -> None:
    pending = McpSignIn.objects.begin(alice, server, "https://chat.example.com/mcp/callback/")
    McpCredential.objects.store(pending, "https://auth.example.com", {"access_token": "token"})
    callbacks = []
    for _ in range(3):
        with django_capture_on_commit_callbacks() as committed:
            assert factories.api_client(alice).delete(path_of(server)).status_code == 204
        callbacks.append(len(committed))
    assert callbacks == [2, 0, 0], "the tokens are revoked and the tools listed again, once"


def test_staff_sign_in_to_a_server_that_all_share(server: McpServer, alice: User) -> None:
    McpServer.objects.update(sign_in="shared")
    refused = factories.api_client(alice).post(path_of(server), {}, format="json")
    assert refused.json()["code"] == "permission_denied"
    root = factories.create_user("root", is_staff=True, is_superuser=True)
    begin(root, server)
    assert McpSignIn.objects.get().is_shared
    assert factories.api_client(alice).delete(path_of(server)).status_code == 403


def test_who_is_no_staff_any_more_does_not_complete_it_for_all(server: McpServer, alice: User) -> None:
    """What all users send to the server would go through an account of that person."""
    McpServer.objects.update(sign_in="shared")
    User.objects.update(is_staff=True, is_superuser=True)
    alice.refresh_from_db()
    page, browser = begin(alice, server), browser_of(alice)
    state = prepare().state
    browser.get(page)
    User.objects.update(is_staff=False)
    assert browser.get("/mcp/callback/", {"state": state, "code": "c"}).status_code == 400
    assert McpSignIn.objects.get().status == SignInStatus.READY


@pytest.mark.parametrize(
    "fields", [{"transport": "stdio", "command": ["a"], "url": ""}, {"headers": {"Authorization": "X"}}]
)
def test_nobody_signs_in_to_a_server_that_knows_who_we_are(
    server: McpServer, alice: User, fields: dict[str, Any]
) -> None:
    server.change(**fields)
    refused = factories.api_client(alice).post(path_of(server), {}, format="json")
    assert refused.json()["code"] == "mcp_server_without_sign_in"


def test_without_keys_nothing_is_begun(server: McpServer, alice: User, settings: Any) -> None:
    settings.SECRETS_KEYS = []
    refused = factories.api_client(alice).post(path_of(server), {}, format="json")
    assert refused.json()["code"] == "encryption_unavailable"
    assert not McpSignIn.objects.exists()


def test_the_document_of_the_client_is_public_and_names_itself() -> None:
    document = Client().get("/mcp/client.json").json()
    assert document["client_id"].endswith("/mcp/client.json")
    assert document["redirect_uris"] == [document["client_id"].replace("client.json", "callback/")]


def test_the_page_lists_what_demands_a_sign_in_and_begins_one(server: McpServer, alice: User) -> None:
    McpServer.objects.create(
        name="open", transport="http", url="https://open.example.com/mcp", status="ready"
    )
    browser = browser_of(alice)
    shown = browser.get("/mcp/").content.decode()
    assert "tides" in shown
    assert "open" not in shown.partition("<ul")[2].partition("</ul>")[0]
    begun = browser.post("/mcp/", {"server": str(server.pk), "action": "sign_in"})
    # A redirect of a form to the issuer's page would be stopped by our own policy (form-action).
    assert begun.status_code == 200
    assert begun["Refresh"] == f"1; url=/mcp/sign-in/{McpSignIn.objects.get().pk}/"
    prepare()
    McpCredential.objects.store(McpSignIn.objects.get(), "https://auth.example.com", {"access_token": "t"})
    assert "sign_out" in browser.get("/mcp/").content.decode()
    assert browser.post("/mcp/", {"server": str(server.pk), "action": "sign_out"}).status_code == 302
    assert not McpCredential.objects.exists()


def test_the_page_says_why_nothing_is_begun(server: McpServer, alice: User, settings: Any) -> None:
    settings.SECRETS_KEYS = []
    refused = browser_of(alice).post("/mcp/", {"server": str(server.pk), "action": "sign_in"})
    assert "SECRETS_KEYS" in refused.content.decode()
    assert browser_of(alice).post("/mcp/", {"server": "x"})["Location"] == "/mcp/"


def test_only_staff_are_offered_to_sign_in_for_all(server: McpServer, alice: User) -> None:
    McpServer.objects.update(sign_in="shared")
    assert (
        "<button"
        not in browser_of(alice).get("/mcp/").content.decode().partition("<ul")[2].partition("</ul>")[0]
    )
