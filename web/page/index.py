"""The one page. Which session is open is in the address's fragment, so the server needs no route for it."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from web.page.modules import modules


@require_safe
@never_cache
@login_required
@ensure_csrf_cookie
def page(request: HttpRequest) -> HttpResponse:
    """The shell; its modules read everything else by REST. The cookie is what they send back as X-CSRFToken."""
    return render(request, "web/page.html", {"is_named_later": settings.TITLES, "modules": modules()})
