"""The admin site, whose logins are limited and refused as those of the page.

Django creates the site before it imports the models.
"""

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from web.admin_site import Site


class AccountsSite(Site):
    def login(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        from features.accounts.login import LimitedAdminLogin, limited  # these import the models

        if settings.OIDC_ISSUER and request.method == "GET" and not request.user.is_authenticated:
            # The login page offers all ways to log in.
            return redirect(
                f"{reverse('login')}?{urlencode({'next': request.GET.get('next', request.path)})}"
            )
        self.login_form = LimitedAdminLogin
        return limited(super().login)(request, extra_context)
