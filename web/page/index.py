"""The views of the chat page, of its texts in the user's language, and of the manifest that makes it an app.

The URL's fragment names the open session, so the server needs no route for it.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.locale import LocaleMiddleware
from django.shortcuts import render
from django.templatetags.static import static
from django.utils import translation
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import conditional_page, require_safe
from django.views.i18n import JavaScriptCatalog

from chat.models import McpCatalog, ModelConfig, Suggestion
from chat.models.provider import may_view_providers
from chat.presenters.tools import choices_of_servers, configured_tools, present_tool_cards
from web.page.preview import base_url, with_previews

THEMES: Final = ("system", "light", "dark")


def frame(request: HttpRequest) -> dict[str, str]:
    """Return the theme for the context of every template; `system` follows the device."""
    theme = request.COOKIES.get("theme", "")
    return {"theme": theme if theme in THEMES else THEMES[0]}


@require_safe
# The viewer of files shows a PDF in a frame; a blob inherits the policy.
@with_previews("blob:")
@never_cache
@login_required
@ensure_csrf_cookie
def page(request: HttpRequest) -> HttpResponse:
    """Render the page without chats. Its modules read everything by REST, with the CSRF cookie as X-CSRFToken."""
    offered = list(ModelConfig.objects.offered().values_list("is_demo", "is_default", "name"))
    demo_models = [name for is_demo, _, name in offered if is_demo]
    user = request.user
    context = {
        "is_named_later": settings.TITLES,
        "suggestions": Suggestion.objects.offered(),
        "has_trash": settings.KEEP_DELETED_DAYS > 0,
        "has_temporary_chats": settings.TEMPORARY_CHAT_MINUTES > 0,
        "tools": " ".join([*sorted(configured_tools()), *choices_of_servers(user.pk)]),
        "tool_cards": json.dumps(present_tool_cards(), ensure_ascii=False),
        "max_file_bytes": settings.MAX_FILE_BYTES,
        "scripts": _script_urls(),
        "early_script": _early_script(),
        "preview_url": base_url(),
        # Displayed in the first frame: added later, they would shift the layout.
        "is_demo": any(is_demo and is_default for is_demo, is_default, _ in offered),
        # Two demo models, which answer side by side.
        "demo_models": " ".join(demo_models[:2]) if len(demo_models) > 1 else "",
        "has_models": bool(offered),
        "has_catalogs": McpCatalog.objects.current().exclude(resources=[], prompts=[]).exists(),
        "sees_providers": may_view_providers(user),
        "adds_providers": may_view_providers(user) and user.has_perm("chat.add_provider"),
    }
    return render(request, "web/page.html", context)


@cache
def _early_script() -> str:
    """Return the script that runs before the form is parsed. Inside the page, it costs no request."""
    return Path(str(finders.find("chat/early.js"))).read_text(encoding="utf-8")


def _script_urls() -> list[str]:
    """Return the URLs of the scripts that the page needs to start, which its head preloads."""
    collected: dict[str, list[str]] = getattr(staticfiles_storage, "scripts", {})
    return [staticfiles_storage.url(name) for name in collected.get("chat/page.js", ())]


class Languages(LocaleMiddleware):
    def __call__(self, request: HttpRequest) -> Any:
        """Activate the language.
        API messages are always English, for programs and logs: the page translates their codes.
        """
        if not request.path.startswith(("/api/", *settings.ERROR_SHAPES)):
            return super().__call__(request)
        translation.activate(settings.LANGUAGE_CODE)
        return self.get_response(request)


# A script of our own origin. Browsers revalidate it with every page (ETag), so that a page never runs with the texts of
# an earlier release.
catalog = cache_control(private=True, no_cache=True)(
    conditional_page(JavaScriptCatalog.as_view(packages=["web"]))
)


# --ground of base.css in the light theme: a manifest has one colour for both themes.
GROUND: Final = "#ffffff"
# File → sizes, type, purpose. Launchers cut the maskable icon into their shape, so it is opaque to its corners.
ICONS: Final = {
    "icon.svg": ("any", "image/svg+xml", "any"),
    "icon-192.png": ("192x192", "image/png", "any"),
    "icon-512.png": ("512x512", "image/png", "any"),
    "icon-maskable-512.png": ("512x512", "image/png", "maskable"),
}


@require_safe
# The icons that it names are kept for one release after their own.
@cache_control(public=True, max_age=3600)
@conditional_page
def manifest(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """Return the manifest, the same for everybody: browsers request it without cookies. It is no static file because the icons' names contain hashes."""
    return JsonResponse(
        {
            "id": "/",
            "name": "Turnwire",
            "short_name": "Turnwire",
            "start_url": "/",
            "scope": "/",
            "display": "standalone",
            "theme_color": GROUND,
            "background_color": GROUND,
            "icons": [
                {"src": static(f"chat/elements/{name}"), "sizes": sizes, "type": kind, "purpose": purpose}
                for name, (sizes, kind, purpose) in ICONS.items()
            ],
        },
        content_type="application/manifest+json",
    )
