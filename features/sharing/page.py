"""The view of a shared branch: public, without login and cookies, and not to be indexed by search engines. A visitor who
logs in gets a copy of it.
"""

from typing import Final

from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import path
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat.models import Session, Share
from chat.models.share import PAGE_BYTES
from chat.protocol.errors import ApiError
from chat.sessions.portable import format as f
from chat.sessions.portable.importer import store_session
from features.sharing.shared_page import SharedMessageAnswer, present_shared_page, read_page
from web.page.preview import base_url, with_previews
from web.rest.request_slots import SHARED

# The error code of a failed answer in a copy: a link shows the message, not the code.
COPIED_FAILURE: Final = "copied_failure"


def copy_share(owner: "User", share: Share) -> Session:
    """Store what the link shows as a new session of `owner`: texts, reasoning and citations, files by their names, and
    which model wrote what. Tool calls are left out: the link shows them shortened. Raises ApiError."""
    pages = share.read_pages()
    # Each page may be as large as a part of a file that is imported.
    if sum(page.messages for page in pages) > f.MAX_PATH or len(pages) * PAGE_BYTES > f.MAX_BYTES:
        raise ApiError("body_too_large", limit=f.MAX_BYTES)
    messages = [message for page in pages for message in present_shared_page(share, page)]
    sent_at = messages[0].sent_at if messages else share.created_at
    root = f.Message(id=0, role="root", sent_at=sent_at, latest_child=1 if messages else None)
    copies = [_copied(message, number, len(messages)) for number, message in enumerate(messages, 1)]
    return store_session(
        owner,
        f.Portable(
            format=f.NAME,
            version=f.ADDITIONS_VERSION,
            title=share.shown_title,
            messages=[root, *copies],
        ),
        {},
    )


def _copied(message: SharedMessageAnswer, number: int, last: int) -> f.Message:
    """Return the message as a file has it. number, last: its place in the branch, and that of its end, from 1."""
    model = message.model or ""
    is_of_model = bool(model) and not message.is_edited
    run = f.Run(
        model=model,
        created_at=message.sent_at,
        status="failed" if message.error else "completed",
        error=f.Error(COPIED_FAILURE, message.error) if message.error else None,
        finish_reason=message.finish_reason or "",
        finish_tokens=message.finish_tokens or None,
    )
    return f.Message(
        id=number,
        role=message.role,  # type: ignore[arg-type]
        parent=number - 1,
        sent_at=message.sent_at,
        text=message.text,
        reasoning=message.reasoning or "",
        latest_child=number + 1 if number < last else None,
        files=[f.File(name=name) for name in message.files],
        citations=[
            f.Citation(citation.number, f"shared:{citation.number}", citation.title, citation.url)
            for citation in message.citations
        ],
        run=run if is_of_model else None,
        edited=f.Edited(model=model) if message.is_edited else None,
    )


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
