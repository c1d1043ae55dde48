"""Django's middleware for sessions, which also records the use of logins, and for request.user.
request.user is anonymous if the account may not be used (any more).
"""

from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware, auser, get_user
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.utils.cache import add_never_cache_headers
from django.utils.functional import SimpleLazyObject

from features.accounts.logins import note_use
from knowledge.idle_connection import return_idle_connection
from web.demo_account import may_log_in


class Sessions(SessionMiddleware):
    """Session middleware that records logins. It is the outermost middleware that uses the database.
    Behind it the request's connection returns to the pool, because the response may be sent to a client that reads
    slowly (decision 0160).
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
    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)

        async def checked_auser() -> Any:
            return _or_nobody(await auser(request))

        request.user = SimpleLazyObject(lambda: _or_nobody(get_user(request)))  # type: ignore[assignment]
        request.auser = checked_auser


def _or_nobody(user: Any) -> Any:
    return user if user.is_authenticated and may_log_in(user) else AnonymousUser()
