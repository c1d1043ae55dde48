"""The page behind a link that shares a branch: for anybody, without login and cookies, and for no search engine."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat.models import Share
from chat.presenters.shares import present_shared_branch


@require_safe
@never_cache
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """The same answer to a token that never was and to one that was revoked."""
    share = Share.objects.behind(token)
    if share is None:
        response = render(request, "web/shared_gone.html", status=404)
    else:
        response = render(request, "web/shared.html", {"shown": present_shared_branch(share)})
    response["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    # The address is the secret: no link on the page may tell it.
    response["Referrer-Policy"] = "no-referrer"
    return response
