"""Who asks: what each client sends to say who it is, and what happens right before its request."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session as Login
from django.test import Client
from django.test.client import ClientHandler
from django.utils import timezone
from knox.models import AuthToken

from chat.models import Scope, Session, TokenScope
from tests import factories
from tests.matrix.belongings import Belongings, past

CSRF_TOKEN = "m" * 32
# One for all: the middleware of static files, which each loads, reads every file there is.
HANDLER = ClientHandler(enforce_csrf_checks=True)

# What a subject is to the owner's rows.
NOBODY, OTHER, VIEWER, SUPERUSER, OWNER, READER, FORGED = (
    "nobody", "another user", "staff who view", "a superuser", "the owner", "a token for reading", "another site",
)  # fmt: skip


class Identity(NamedTuple):
    """What a client sends to say who it is."""

    cookies: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}

    def client(self) -> Client:
        client = Client(raise_request_exception=False, headers=self.headers)
        client.handler = HANDLER
        client.cookies.load(dict(self.cookies))
        return client


class Subject(NamedTuple):
    """identity: made once, of the owner or of somebody else. ends: what makes it invalid, right before a request."""

    name: str
    standing: str
    identity: Callable[[Belongings], Identity]
    ends: Callable[[Belongings], object] = lambda _: None
    has_token: bool = False


class People(NamedTuple):
    """Everybody but the owner."""

    other: Any
    viewer: Any
    superuser: Any


def anonymous(_owned: Belongings) -> Identity:
    return Identity()


def logged_in(user: Any) -> Identity:
    """By a cookie, with the CSRF token that the page sends."""
    client = Client()
    client.force_login(user)
    login = client.cookies[settings.SESSION_COOKIE_NAME].value
    return Identity({settings.SESSION_COOKIE_NAME: login, **csrf_cookies()}, csrf_headers())


def csrf_cookies() -> dict[str, str]:
    return {settings.CSRF_COOKIE_NAME: CSRF_TOKEN}


def csrf_headers() -> dict[str, str]:
    return {"X-CSRFToken": CSRF_TOKEN}


def with_token(token: str) -> Identity:
    return Identity(headers={"Authorization": f"Token {token}"})


def bearer_headers(client: Client) -> dict[str, str]:
    """The token of the client, if it has one, as OpenAI's clients send it."""
    login = client.defaults.get("HTTP_AUTHORIZATION")
    return {"Authorization": str(login).replace("Token", "Bearer")} if login else {}


def with_token_of(user: Any, scope: Scope = Scope.WRITE) -> Identity:
    # Its use is noted already: no subject changes that.
    return with_token(TokenScope.objects.create_token(user, scope, last_used_at=timezone.now())[1])


def people() -> People:
    return People(
        get_or_create("mallory"),
        staff_who_view(),
        get_or_create("root", is_staff=True, is_superuser=True),
    )


def get_or_create(name: str, **fields: Any) -> Any:
    return get_user_model().objects.filter(username=name).first() or factories.create_user(name, **fields)


def staff_who_view(*codenames: str) -> Any:
    """Staff with these permissions; without codenames, with every permission to view."""
    person = get_or_create("viewer", is_staff=True)
    wanted = Permission.objects.filter(codename__startswith="view_")
    if codenames:
        wanted = wanted.filter(codename__in=codenames)
    person.user_permissions.add(*wanted)
    return person


def deactivate(owned: Belongings) -> None:
    get_user_model().objects.filter(pk=owned.user.pk).update(is_active=False)


def trash_sessions(owned: Belongings) -> None:
    """All of them, as their owner does it one by one."""
    own = Session.objects.filter(owner=owned.user)
    own.update(deleted_at=timezone.now(), purge_at=timezone.now() + timedelta(days=1))


def expire_tokens(owned: Belongings) -> None:
    AuthToken.objects.filter(user=owned.user).update(expiry=past())


def delete_tokens(owned: Belongings) -> None:
    AuthToken.objects.filter(user=owned.user).delete()


def change_password(owned: Belongings) -> None:
    get_user_model().objects.filter(pk=owned.user.pk).update(password="md5$another$one")


def end_logins(_owned: Belongings) -> None:
    Login.objects.all().delete()


def expire_logins(_owned: Belongings) -> None:
    Login.objects.update(expire_date=past())


def by_cookie(owned: Belongings) -> Identity:
    return logged_in(owned.user)


def by_token(owned: Belongings) -> Identity:
    return with_token_of(owned.user)


def of_another_site(owned: Belongings) -> Identity:
    return Identity(cookies=logged_in(owned.user).cookies)


def by_token_for_reading(owned: Belongings) -> Identity:
    return with_token_of(owned.user, Scope.READ)


SUBJECTS = [
    Subject("anonymous", NOBODY, anonymous),
    Subject("unknown token", NOBODY, lambda _: with_token("nonsense"), has_token=True),
    Subject("deactivated, cookie", NOBODY, by_cookie, deactivate),
    Subject("deactivated, token", NOBODY, by_token, deactivate, has_token=True),
    Subject("expired token", NOBODY, by_token, expire_tokens, has_token=True),
    Subject("deleted token", NOBODY, by_token, delete_tokens, has_token=True),
    Subject("changed password", NOBODY, by_cookie, change_password),
    Subject("ended login", NOBODY, by_cookie, end_logins),
    Subject("expired login", NOBODY, by_cookie, expire_logins),
    Subject("another user, cookie", OTHER, lambda _: logged_in(people().other)),
    Subject("another user, token", OTHER, lambda _: with_token_of(people().other), has_token=True),
    Subject("staff who view, cookie", VIEWER, lambda _: logged_in(people().viewer)),
    Subject("staff who view, token", VIEWER, lambda _: with_token_of(people().viewer), has_token=True),
    Subject("superuser, cookie", SUPERUSER, lambda _: logged_in(people().superuser)),
    Subject("superuser, token", SUPERUSER, lambda _: with_token_of(people().superuser), has_token=True),
    Subject("another site", FORGED, of_another_site),
    Subject("token for reading", READER, by_token_for_reading, has_token=True),
    Subject("owner, token", OWNER, by_token, has_token=True),
    Subject("owner, cookie", OWNER, by_cookie),
    Subject("owner, trashed sessions", OWNER, by_cookie, trash_sessions),
]  # fmt: skip
