"""In which language a page speaks: the one chosen in the settings (a cookie), else the browser's. The API is English."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation


class Languages(LocaleMiddleware):
    def __call__(self, request: HttpRequest) -> Any:
        """Messages of the API are for programs and logs; the page has its own words for their codes."""
        if not request.path.startswith("/api/"):
            return super().__call__(request)
        translation.activate(settings.LANGUAGE_CODE)
        return self.get_response(request)
