"""The view of a shared branch: public, without login and cookies, and not to be indexed by search engines. A visitor who
logs in gets a copy of it.
"""

from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import path
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat.models import Share
from chat.protocol.errors import ApiError
from features.sharing.copies import copy_share
from features.sharing.shared_page import read_page
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
        response = _gone(request)
    else:
        with SHARED.take(share.session.owner_id):
            page = read_page(share, 1)
        shown = {"shown": page, "token": token, "preview_url": base_url()}
        response = render(request, "sharing/shared.html", shown)
    response["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    # The URL is the secret: links on the page must not reveal it.
    response["Referrer-Policy"] = "no-referrer"
    return response


@method_decorator(never_cache, name="dispatch")
class CopyShared(LoginRequiredMixin, View):
    """Ask before the copy is made: the address may have been sent by anybody."""

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        share = Share.objects.behind(token)
        return self._page(request, share) if share else _gone(request)

    def post(self, request: HttpRequest, token: str) -> HttpResponse:
        share = Share.objects.behind(token)
        if share is None:
            return _gone(request)
        owner = User.objects.get(username=request.user.get_username())
        try:
            with SHARED.take(share.session.owner_id):
                session = copy_share(owner, share)
        except ApiError as error:
            return self._page(request, share, problem=error.message, status=error.status)
        return redirect(f"{resolve_url('page')}#{session.pk}")

    def _page(
        self, request: HttpRequest, share: Share, *, problem: str = "", status: int = 200
    ) -> HttpResponse:
        shown = {"title": share.shown_title, "problem": problem}
        return render(request, "sharing/shared_copy.html", shown, status=status)


def _gone(request: HttpRequest) -> HttpResponse:
    return render(request, "sharing/shared_gone.html", status=404)


urlpatterns = [
    path("shared/<str:token>/", shared, name="shared"),
    path("shared/<str:token>/copy/", CopyShared.as_view(), name="copy_shared"),
]
