"""The view of a shared branch: public, without login and cookies, and not to be indexed by search engines."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat.models import Share
from chat.sessions.sharing import read_page
from web.page.preview import base_url, with_previews
from web.rest.request_slots import SHARED


@require_safe
@with_previews()
@never_cache
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """Render the first page of the shared branch; its script requests the other pages from the API.
    Return the same 404 for unknown and revoked tokens.
    """
    share = Share.objects.behind(token)
    if share is None:
        response = render(request, "web/shared_gone.html", status=404)
    else:
        with SHARED.take(share.session.owner_id):
            page = read_page(share, 1)
        shown = {"shown": page, "token": token, "preview_url": base_url()}
        response = render(request, "web/shared.html", shown)
    response["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    # The URL is the secret: links on the page must not reveal it.
    response["Referrer-Policy"] = "no-referrer"
    return response
