"""Middleware that activates the language of a page: the cookie's, otherwise the browser's. The API is English."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation


class Languages(LocaleMiddleware):
    def __call__(self, request: HttpRequest) -> Any:
        """Activate the language.
        API messages are always English, for programs and logs: the page translates their codes.
        """
        if not request.path.startswith("/api/"):
            return super().__call__(request)
        translation.activate(settings.LANGUAGE_CODE)
        return self.get_response(request)
