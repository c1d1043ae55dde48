"""The admin page on which staff create a link that sets a user's password, for users without e-mail."""

from typing import Any

from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.translation import gettext_lazy as _

from web.accounts.demo_account import may_log_in
from web.accounts.password_links import make_password_link, password_link_lifetime
from web.site_origin import site_url


class PasswordLinkMixin(UserAdmin[User]):
    """The page of password links. It needs the permission to change users, as setting a password in the admin does."""

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.show_password_link)
        return [
            path("<path:id>/password-link/", view, name="auth_user_password_link"),
            *super().get_urls(),
        ]

    def show_password_link(self, request: HttpRequest, id: str) -> TemplateResponse:  # noqa: A002
        """Explain the link on GET; on POST create it and display it, once."""
        user = self.get_object(request, unquote(id))
        if not self.has_change_permission(request, user):
            raise PermissionDenied
        if user is None:
            raise Http404
        context = {
            **self.admin_site.each_context(request),
            "title": _("Link to set a password"),
            "opts": self.opts,
            "original": user,
            "may_log_in": may_log_in(user),
            "valid_for": password_link_lifetime(),
        }
        if request.method == "POST" and context["may_log_in"]:
            self.log_change(request, user, "Made a link to set the password.")
            context["link"] = site_url(make_password_link(user))
        return TemplateResponse(request, "admin/auth/user/password_link.html", context)
