"""Which tools this instance is set up for. The page offers no others, and no question can force another one."""

from django.conf import settings

from chat.protocol.tasks import TOOL_NAMES


def configured_tools() -> frozenset[str]:
    """As the tools say themselves in the worker; a test compares the two."""
    needed = {"web_search": bool(settings.WEB_SEARCH_URL), "open_url": settings.OPEN_URL}
    return frozenset(name for name in TOOL_NAMES if needed.get(name, True))
