"""The logins of a user in browsers: recorded with requests, listed on a page, and ended there, one or all others."""

import logging
import re
from typing import Any, Final, NamedTuple

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.middleware import AuthenticationMiddleware, auser, get_user
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.views import LogoutView
from django.contrib.sessions.middleware import SessionMiddleware
from django.contrib.sessions.models import Session as BrowserSession
from django.core.cache import cache
from django.db import DatabaseError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject, cached_property
from django.views.generic import TemplateView
from psycopg_pool import PoolTimeout

from chat.events import access
from chat.models import Login
from chat.models.account import PAUSE
from knowledge.idle_connection import return_idle_connection
from web.accounts import may_log_in

logger = logging.getLogger(__name__)

# A table of common browsers suffices instead of a library of thousands of expressions: users know their own devices.
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
# The limit of the page. "Log out everywhere else" ends all, listed or not.
MAX_LISTED: Final = 100
MAX_DIGITS: Final = 19


class Device(NamedTuple):
    """A browser and its system. An empty string means unknown."""

    browser: str
    system: str


def read_device_name(user_agent: str) -> Device:
    return Device(_first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent))


def _first(table: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for pattern, name in table if re.search(pattern, user_agent)), "")


def note_use(request: HttpRequest) -> None:
    """Store that the login of the request is used, unless this process did so recently. Never fails."""
    key, user = request.session.session_key, request.session.get(SESSION_KEY)
    if not key or not user or cache.get(f"login:{key}"):
        return
    try:
        language = getattr(request, "LANGUAGE_CODE", "")  # pages have a language, API requests do not
        Login.objects.use(key, int(user), request.headers.get("User-Agent", ""), language)
    except (DatabaseError, PoolTimeout) as error:
        # The next request tries again. The failure must not turn a finished response into an error.
        logger.warning("user %s: the use of a login is not stored: %s", user, error)
    else:
        cache.set(f"login:{key}", True, PAUSE.total_seconds())


def end_logins(user: User, *, except_key: str | None = None) -> None:
    """End all logins of the user in browsers, except the session `except_key`. API tokens stay."""
    with transaction.atomic():
        Login.objects.filter(user=user).exclude(session=except_key).end()
        _unrecorded(user).exclude(pk=except_key).delete()
        access.announce_change(user.pk)


def _unrecorded(user: User) -> Any:
    """Return the sessions of the user without a Login row: no request has used them since logins are recorded."""
    sessions = BrowserSession.objects.filter(login=None).iterator()
    own = [session.pk for session in sessions if session.get_decoded().get(SESSION_KEY) == str(user.pk)]
    return BrowserSession.objects.filter(pk__in=own)


class Logins(LoginRequiredMixin, TemplateView):
    template_name = "accounts/logins.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        key = self.request.session.session_key
        entries = [
            {
                "id": login.pk,
                "device": read_device_name(login.user_agent),
                "created_at": login.created_at,
                "used_at": login.used_at,
                "is_current": login.session_id == key,
            }
            for login in self._logins().select_related("session").lasting()[:MAX_LISTED]
            if self._is_valid(login)
        ]
        return super().get_context_data(**kwargs) | {
            "logins": entries,
            "has_others": any(not entry["is_current"] for entry in entries),
        }

    def post(self, request: HttpRequest) -> HttpResponse:
        """End one login, or all others. The form's `login` is the id of a login, or `others`."""
        chosen = request.POST.get("login", "")
        if chosen == "others":
            end_logins(self._user, except_key=request.session.session_key)
        elif chosen.isascii() and chosen.isdigit() and len(chosen) < MAX_DIGITS:
            with transaction.atomic():
                self._logins().filter(pk=chosen).end()
                access.announce_change(self._user.pk)
        return HttpResponseRedirect(f"{reverse('logins')}?notice=ended")

    def _logins(self) -> Any:
        return Login.objects.filter(user=self._user)

    def _is_valid(self, login: Login) -> bool:
        """Return whether the login has the hash of the current password, by any key that Django accepts.
        After a password change its session still exists.
        """
        password_hash = login.session.get_decoded().get(HASH_SESSION_KEY, "")
        valid = (self._user.get_session_auth_hash(), *self._user.get_session_auth_fallback_hash())
        return any(constant_time_compare(password_hash, known) for known in valid)

    @cached_property
    def _user(self) -> User:
        return User.objects.get(username=self.request.user.get_username())


class Logout(LogoutView):
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Log out, and close the websockets of this login."""
        user_id = request.user.pk
        response = super().post(request, *args, **kwargs)
        if user_id is not None:
            access.announce_change(user_id)
        return response


class Sessions(SessionMiddleware):
    """Session middleware that records logins. It is the outermost middleware that uses the database.
    Behind it the request's connection returns to the pool, because the response may be sent to a client that reads
    slowly (decision 0088).
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        try:
            return self._store(request, response)
        finally:
            return_idle_connection()

    def _store(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        # Otherwise recording it would load a session that no code has asked for.
        is_used = request.session.accessed and response.status_code < 500
        stored = super().process_response(request, response)
        if is_used:
            note_use(request)
            # A response that depends on the user must not be cached, in the browser or by a proxy, unless a view says
            # otherwise.
            if "Cache-Control" not in response:
                add_never_cache_headers(response)
        return stored


class Authentication(AuthenticationMiddleware):
    """Authentication middleware whose request.user is anonymous if the account may not be used (any more)."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)

        async def checked_auser() -> Any:
            return _or_nobody(await auser(request))

        request.user = SimpleLazyObject(lambda: _or_nobody(get_user(request)))  # type: ignore[assignment]
        request.auser = checked_auser


def _or_nobody(user: Any) -> Any:
    return user if user.is_authenticated and may_log_in(user) else AnonymousUser()
