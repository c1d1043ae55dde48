"""Where everything is: the API, health, admin, and the page at the root."""

from django.contrib import admin
from django.urls import include, path

from chat.api import health
from chat.api.metrics import metrics

urlpatterns = [
    path("api/", include("chat.api.urls")),
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("metrics", metrics),
    path("admin/", admin.site.urls),
    path("", include("chat.web.urls")),
]
