"""Sets request.user as Django does, and to nobody where the account may not be used (any more)."""

from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware, auser, get_user
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from web.accounts.demo_account import may_log_in


class Authentication(AuthenticationMiddleware):
    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)

        async def checked_auser() -> Any:
            return _or_nobody(await auser(request))

        request.user = SimpleLazyObject(lambda: _or_nobody(get_user(request)))  # type: ignore[assignment]
        request.auser = checked_auser


def _or_nobody(user: Any) -> Any:
    return user if user.is_authenticated and may_log_in(user) else AnonymousUser()
