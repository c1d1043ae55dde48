"""Context processor with the theme, stored in a cookie, so that the first paint of every page uses it."""

from typing import Final

from django.http import HttpRequest

THEMES: Final = ("system", "light", "dark")


def frame(request: HttpRequest) -> dict[str, str]:
    """Return the theme for the context of every template; `system` follows the device."""
    theme = request.COOKIES.get("theme", "")
    return {"theme": theme if theme in THEMES else THEMES[0]}
