"""The view that changes the user's own password. The page for it is web/accounts/password_change.py."""

from typing import Annotated

from msgspec import Meta
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.protocol.body import Body
from chat.protocol.errors import ApiError
from chat.protocol.member_types import doc
from chat.protocol.members import Text
from web.accounts.password_change import LimitedPasswordChange, store_password
from web.accounts.reauthentication import has_password
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented
from web.rest.token_login import MAX_PASSWORD_CHARACTERS

_Password = Annotated[Text, Meta(max_length=MAX_PASSWORD_CHARACTERS)]


class PasswordBody(Body):
    old_password: _Password
    new_password: _Password
    end_tokens: Annotated[bool, doc("Delete all API tokens of the user, that of the request too.")] = False


class PasswordView(StrictAPIView):
    @documented("auth_password", body=PasswordBody, statuses=(204,))
    def post(self, request: Request) -> Response:
        """Change the password. Other logins of the user end. Repeated wrong passwords are refused for a while."""
        user = current_user(request)
        if not has_password(user):
            raise ApiError("permission_denied")
        body = self.parse(PasswordBody)
        form = LimitedPasswordChange(
            user,
            {
                "old_password": body.old_password,
                "new_password1": body.new_password,
                "new_password2": body.new_password,
                "deletes_tokens": body.end_tokens,
            },
            request=request._request,  # noqa: SLF001  Django's own request, by whose address guesses are limited
        )
        for name, errors in form.errors.items():
            field = "old_password" if name == "old_password" else "new_password"
            raise ApiError("invalid_value", " ".join(str(one) for one in errors), field=field)
        store_password(form, kept_login=request._request if request.auth is None else None)  # noqa: SLF001
        return Response(status=status.HTTP_204_NO_CONTENT)
