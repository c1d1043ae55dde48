"""What every page needs to look right from the first paint on: the theme, which the settings keep in a cookie."""

from typing import Final

from django.http import HttpRequest

THEMES: Final = ("system", "light", "dark")


def frame(request: HttpRequest) -> dict[str, str]:
    """The context of every template. `system` follows the device."""
    theme = request.COOKIES.get("theme", "")
    return {"theme": theme if theme in THEMES else THEMES[0]}
