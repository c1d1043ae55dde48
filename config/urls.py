"""The root URLconf: REST API, health checks, metrics, admin, and the page at the root."""

from django.contrib import admin
from django.urls import include, path

from web.rest import health
from web.rest.health import metrics
from web.socket.asyncapi import AsyncApiView

urlpatterns = [
    path("api/asyncapi.yaml", AsyncApiView.as_view()),
    path("api/", include("features.accounts.api")),
    path("api/", include("features.agents.api")),
    path("api/", include("features.approvals.api")),
    path("api/", include("features.feedback.api")),
    path("api/", include("features.files.api")),
    path("api/", include("features.knowledge_bases.api")),
    path("api/", include("features.mcp.api")),
    path("api/", include("features.projects.api")),
    path("api/", include("features.prompts.api")),
    path("api/", include("features.providers.api")),
    path("api/", include("features.sharing.api")),
    path("api/", include("features.tags.api")),
    path("api/", include("features.transfer.api")),
    path("api/", include("features.trash.api")),
    path("api/", include("features.usage.api")),
    path("api/", include("features.webhooks.api")),
    # Behind the features, because it answers every path below /api/.
    path("api/", include("web.rest.urls")),
    path("v1/", include("features.openai.api")),
    path("", include("features.agui.api")),
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("metrics", metrics),
    path("admin/", admin.site.urls),
    path("", include("features.accounts.page")),
    path("", include("features.mcp.page")),
    path("", include("features.sharing.page")),
    path("", include("features.transfer.account_archive")),
    path("", include("web.page.urls")),
]
