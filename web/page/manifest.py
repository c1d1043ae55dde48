"""The manifest with which browsers install the page as an app. It is public: browsers request it without cookies."""

from typing import Final

from django.http import HttpRequest, JsonResponse
from django.templatetags.static import static
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

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
    """Return the manifest, the same for everybody. It is no static file because the icons' names contain hashes."""
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
