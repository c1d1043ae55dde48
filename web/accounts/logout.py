"""The logout, which also closes the websockets of the login."""

from typing import Any

from django.contrib.auth.views import LogoutView
from django.http import HttpRequest, HttpResponse

from chat.events import access


class Logout(LogoutView):
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        user_id = request.user.pk
        response = super().post(request, *args, **kwargs)
        if user_id is not None:
            access.announce_change(user_id)
        return response
