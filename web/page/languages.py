"""Activates the language of a page, the cookie's or else the browser's, and serves the texts of its modules in it.

The API is English.
"""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page
from django.views.i18n import JavaScriptCatalog


class Languages(LocaleMiddleware):
    def __call__(self, request: HttpRequest) -> Any:
        """Activate the language.
        API messages are always English, for programs and logs: the page translates their codes.
        """
        if not request.path.startswith("/api/"):
            return super().__call__(request)
        translation.activate(settings.LANGUAGE_CODE)
        return self.get_response(request)


# A script of our own origin. Browsers revalidate it with every page (ETag), so that a page never runs with the texts of
# an earlier release.
catalog = cache_control(private=True, no_cache=True)(
    conditional_page(JavaScriptCatalog.as_view(packages=["web"]))
)
