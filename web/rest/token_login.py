"""The view that creates an API token from a username and password. It is the only API call that needs no login."""

from typing import Annotated, Final

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from knox.models import AuthToken
from msgspec import Meta
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from chat.protocol.answer import Answer
from chat.protocol.body import Body
from chat.protocol.errors import ApiError
from chat.runs import quotas
from web.accounts.demo_account import may_log_in
from web.accounts.login_attempt import login_attempt
from web.accounts.second_factor.codes import has_second_factor
from web.rest.api_view import StrictAPIView
from web.rest.openapi import documented

# The limit of Django's login form.
MAX_NAME_CHARACTERS: Final = 150
MAX_PASSWORD_CHARACTERS: Final = 4096


class Credentials(Body):
    username: Annotated[str, Meta(max_length=MAX_NAME_CHARACTERS)]
    password: Annotated[str, Meta(max_length=MAX_PASSWORD_CHARACTERS)]


class TokenAnswer(Answer):
    token: str


class TokenView(StrictAPIView):
    authentication_classes: list[type[BaseAuthentication]] = []
    permission_classes: list[type[BasePermission]] = [AllowAny]

    @documented("auth_token", body=Credentials, answer=TokenAnswer)
    def post(self, request: Request) -> Response:
        """Create a token; earlier tokens stay valid. Repeated wrong passwords lock the login for a while."""
        credentials = self.parse(Credentials)
        # Normalised as by the page's form, and as names are stored.
        username = User.normalize_username(credentials.username)
        if not settings.PASSWORD_LOGIN:
            raise ApiError("permission_denied")
        with login_attempt(request._request, username) as attempt:  # noqa: SLF001
            user = authenticate(request=request._request, username=username, password=credentials.password)  # noqa: SLF001  Django's backends need its own request
            attempt.has_right_password = user is not None
        if user is None or not may_log_in(user):
            raise ApiError("invalid_credentials")
        if has_second_factor(user):
            # Such users create tokens on the page, after entering the code too.
            raise ApiError("permission_denied")
        with quotas.TOKENS.room_for_one(user):
            # The signal updates last_login.
            user_logged_in.send(sender=type(user), request=request._request, user=user)  # noqa: SLF001
            _, token = AuthToken.objects.create(user)
        return Response(TokenAnswer(token=token).json())
