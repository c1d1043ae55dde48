"""API tokens: the one call that needs no login."""

from typing import Any, Final

from django.contrib.auth import authenticate
from django.contrib.auth.signals import user_logged_in
from knox.models import AuthToken
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from chat.protocol.errors import ApiError
from web.rest.fields import StrictSerializer, Text
from web.rest.openapi import documented
from web.rest.view import Endpoint

# As long as Django's own login form takes.
MAX_NAME_CHARACTERS: Final = 150


class Credentials(StrictSerializer):
    username = Text(max_length=MAX_NAME_CHARACTERS)
    password = Text(max_length=4096)


class TokenAnswer(serializers.Serializer[Any]):
    token = serializers.CharField()


class TokenView(Endpoint):
    """A new token; earlier ones stay valid. Repeated wrong passwords are throttled (web/rest/throttle.py)."""

    authentication_classes: list[type[BaseAuthentication]] = []
    permission_classes: list[type[BasePermission]] = [AllowAny]

    @documented("auth_token", body=Credentials, answer=TokenAnswer)
    def post(self, request: Request) -> Response:
        credentials = self.body(Credentials)
        user = authenticate(request=request._request, **credentials)  # noqa: SLF001  Django's backends want its own
        if user is None:
            raise ApiError("invalid_credentials")
        # Forgets the wrong passwords before it, and keeps last_login true.
        user_logged_in.send(sender=type(user), request=request._request, user=user)  # noqa: SLF001
        _, token = AuthToken.objects.create(user)
        return Response({"token": token})
