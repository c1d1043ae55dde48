"""The view of the chat page. The URL's fragment names the open session, so the server needs no route for it."""

from csp.decorators import csp_update
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from chat.models import ModelConfig
from web.page.modules import script_urls


@require_safe
# The viewer of files shows a PDF in a frame; a blob inherits the policy.
@csp_update({"frame-src": ["blob:"]})
@never_cache
@login_required
@ensure_csrf_cookie
def page(request: HttpRequest) -> HttpResponse:
    """Render the page without chats: its modules read everything by REST, with the CSRF cookie as X-CSRFToken."""
    context = {
        "is_named_later": settings.TITLES,
        "max_file_bytes": settings.MAX_FILE_BYTES,
        "scripts": script_urls(),
        # Shown with the first frame, which it would move later.
        "is_demo": ModelConfig.objects.filter(is_demo=True, is_default=True, enabled=True).exists(),
    }
    return render(request, "web/page.html", context)
