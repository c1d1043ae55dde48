"""The pages of signing in to MCP servers.
They list the servers that demand it, redirect to the issuer, handle the way back, and describe this client.

The browser that comes back must be the one that was sent away, and its user the one who began.
"""

import hashlib
from typing import Any, Final, cast
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseRedirectBase
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_safe
from django.views.generic import TemplateView

from chat.models import McpServer, McpSignIn
from chat.models.mcp_sign_in import McpSignInQuerySet, SignInStatus
from chat.protocol.body import parse_id
from chat.protocol.errors import ApiError
from features.mcp.sign_ins import (
    NOT_NEEDED,
    begin_sign_in,
    may_sign_in,
    sign_in_states,
    sign_out,
    take_answer,
)
from web.site_origin import site_url

# A worker answers within a second, unless it is just starting.
REFRESH_S: Final = 1


class McpServers(LoginRequiredMixin, TemplateView):
    """The servers that demand a sign-in, and whether this user has one."""

    template_name = "mcp/servers.html"
    http_method_names = ("get", "head", "post")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        user = cast("User", self.request.user)
        states = sign_in_states(user, list(McpServer.objects.without_documents().filter(is_enabled=True)))
        demanding = [
            {
                "id": server.pk,
                "name": server.name,
                "state": state,
                "may_sign_in": may_sign_in(user, server),
            }
            for server, state in states.items()
            if state != NOT_NEEDED
        ]
        return super().get_context_data(servers=demanding, **kwargs)

    def post(self, request: HttpRequest) -> HttpResponse:
        user = cast("User", request.user)
        pk = parse_id(request.POST.get("server", ""))
        server = McpServer.objects.filter(is_enabled=True, pk=pk).first() if pk else None
        if server is None:
            return redirect("mcp_servers")
        try:
            if request.POST.get("action") == "sign_out":
                sign_out(user, server)
                return redirect("mcp_servers")
            sign_in = begin_sign_in(user, server, site_url(reverse("mcp_callback")))
        except ApiError as refused:
            return self.render_to_response(self.get_context_data(problem=refused.message), status=409)
        # No redirect: it would lead to the issuer, and a form of ours may only lead to our pages (form-action).
        return _waiting(request, sign_in)


class _Away(HttpResponseRedirectBase):
    """A redirect to the issuer, whose address has been checked (features/mcp/client/oauth_requests.py)."""

    status_code = 302
    allowed_schemes = ["http", "https"]


@require_safe
@never_cache
@login_required
def mcp_sign_in(request: HttpRequest, sign_in: UUID) -> HttpResponse:
    """Redirect to the server's sign-in once a worker has found its address; afterwards render the outcome."""
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
    return _waiting(request, found)


@require_safe
@never_cache
@login_required
def mcp_callback(request: HttpRequest) -> HttpResponse:
    """Handle the issuer's redirect back to us (RFC 6749, section 4.1.2). Reloading the page finds the answer taken."""
    state = request.GET.get("state", "")
    found = _own(request).filter(state=state).first() if state.isascii() and state.isprintable() else None
    if found is None or not constant_time_compare(found.browser, _browser(request)):
        return _problem(request)
    # Staff who sign in for all users may have lost the permission meanwhile.
    if not (may_sign_in(found.user, found.server) and ("code" in request.GET or "error" in request.GET)):
        return _problem(request)
    take_answer(found, request.GET.dict())
    return redirect("mcp_sign_in", found.pk)


@require_safe
@cache_control(public=True, max_age=3600)
def mcp_client(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """Return the metadata document of this client.
    Its address is the client's id (draft-ietf-oauth-client-id-metadata-document).
    """
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
    return McpSignIn.objects.live().filter(user=cast("User", request.user)).select_related("server", "user")


def _browser(request: HttpRequest) -> str:
    return hashlib.sha256(str(request.session.session_key).encode()).hexdigest()


def _problem(request: HttpRequest) -> HttpResponse:
    heading = _("This sign-in cannot be completed")
    advice = _(
        "It was started too long ago, in another browser, or it has been completed already. Start again."
    )
    return render(request, "mcp/sign_in.html", {"heading": heading, "advice": advice}, status=400)


def _waiting(request: HttpRequest, sign_in: McpSignIn) -> HttpResponse:
    page = _page(request, sign_in, _("Signing in to %(name)s"), _("One moment …"))
    page["Refresh"] = f"{REFRESH_S}; url={reverse('mcp_sign_in', args=[sign_in.pk])}"
    return page


def _page(
    request: HttpRequest, sign_in: McpSignIn, heading: str, advice: str, status: int = 200
) -> HttpResponse:
    context = {"heading": heading % {"name": sign_in.server.name}, "advice": advice}
    return render(request, "mcp/sign_in.html", context, status=status)


urlpatterns = [
    path("mcp/", McpServers.as_view(), name="mcp_servers"),
    path("mcp/sign-in/<uuid:sign_in>/", mcp_sign_in, name="mcp_sign_in"),
    path("mcp/callback/", mcp_callback, name="mcp_callback"),
    path("mcp/client.json", mcp_client, name="mcp_client"),
]
