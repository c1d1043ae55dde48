"""Routes of the HTML pages but those of features: the chat, signing in to MCP servers, the language, previews and the manifest."""

from django.urls import path
from django.views.i18n import set_language

from web.page.index import catalog, manifest, page
from web.page.mcp_sign_in import McpServers, mcp_callback, mcp_client, mcp_sign_in
from web.page.preview import preview_diagram, preview_html

urlpatterns = [
    path("", page, name="page"),
    path("language/", set_language, name="set_language"),
    path("language/catalog.js", catalog, name="catalog"),
    path("preview/html/", preview_html, name="preview_html"),
    path("preview/diagram/", preview_diagram, name="preview_diagram"),
    path("mcp/", McpServers.as_view(), name="mcp_servers"),
    path("mcp/sign-in/<uuid:sign_in>/", mcp_sign_in, name="mcp_sign_in"),
    path("mcp/callback/", mcp_callback, name="mcp_callback"),
    path("mcp/client.json", mcp_client, name="mcp_client"),
    path("manifest.webmanifest", manifest, name="manifest"),
]
