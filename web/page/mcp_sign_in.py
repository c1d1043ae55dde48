"""The pages of signing in to an MCP server: the way there, the way back, and the document that describes this client.

A browser that is sent away and the one that comes back have to be the same, and its user the one who began.
"""

import hashlib
from typing import Final, cast
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseRedirectBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_safe

from chat.models import McpSignIn
from chat.models.mcp_sign_in import McpSignInQuerySet, SignInStatus
from chat.runs.mcp.sign_ins import take_answer
from web.site_origin import site_url

# A worker answers within a second, unless it begins to.
REFRESH_S: Final = 1


class _Away(HttpResponseRedirectBase):
    """To the issuer, whose address has been checked (llm_worker/mcp/oauth_requests.py)."""

    status_code = 302
    allowed_schemes = ["http", "https"]


@require_safe
@never_cache
@login_required
def mcp_sign_in(request: HttpRequest, sign_in: UUID) -> HttpResponse:
    """Lead to the sign-in of the server as soon as a worker knows where that is; and say how it has ended."""
    found = _own(request).filter(pk=sign_in).first()
    if found is None:
        return _problem(request)
    match found.status:
        case SignInStatus.READY:
            _own(request).filter(pk=sign_in).update(browser=_browser(request))
            return _Away(found.address)
        case SignInStatus.FAILED:
            return _page(request, found, _("You are not signed in to %(name)s"), found.problem, 502)
        case SignInStatus.DONE:
            advice = _("You can close this tab. Its tools can be used now.")
            return _page(request, found, _("You are signed in to %(name)s"), advice)
    waiting = _page(request, found, _("Signing in to %(name)s"), _("One moment …"))
    waiting["Refresh"] = str(REFRESH_S)
    return waiting


@require_safe
@never_cache
@login_required
def mcp_callback(request: HttpRequest) -> HttpResponse:
    """Where the issuer leads back to (RFC 6749, section 4.1.2). Once: what is loaded again finds that it is taken."""
    found = _own(request).filter(state=request.GET.get("state", "")).first()
    if found is None or not constant_time_compare(found.browser, _browser(request)):
        return _problem(request)
    if not ("code" in request.GET or "error" in request.GET):
        return _problem(request)
    take_answer(found, request.GET.dict())
    return redirect("mcp_sign_in", found.pk)


@require_safe
@cache_control(public=True, max_age=3600)
def mcp_client(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """The metadata document of this client, whose address is its id (draft-ietf-oauth-client-id-metadata-document)."""
    return JsonResponse(
        {
            "client_id": site_url(reverse("mcp_client")),
            "client_name": "Turnwire",
            "client_uri": site_url("/"),
            "redirect_uris": [site_url(reverse("mcp_callback"))],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "web" if urlsplit(site_url("/")).scheme == "https" else "native",
        }
    )


def _own(request: HttpRequest) -> McpSignInQuerySet:
    return McpSignIn.objects.live().filter(user=cast("User", request.user)).select_related("server")


def _browser(request: HttpRequest) -> str:
    return hashlib.sha256(str(request.session.session_key).encode()).hexdigest()


def _problem(request: HttpRequest) -> HttpResponse:
    heading = _("This sign-in cannot be completed")
    advice = _(
        "It was started too long ago, in another browser, or it has been completed already. Start again."
    )
    return render(request, "web/problem.html", {"heading": heading, "advice": advice}, status=400)


def _page(
    request: HttpRequest, sign_in: McpSignIn, heading: str, advice: str, status: int = 200
) -> HttpResponse:
    context = {"heading": heading % {"name": sign_in.server.name}, "advice": advice}
    return render(request, "web/problem.html", context, status=status)
