"""Where everything is: the API, health, admin, and the page at the root."""

from django.contrib import admin
from django.urls import include, path

from chat.api import health

urlpatterns = [
    path("api/", include("chat.api.urls")),
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("admin/", admin.site.urls),
    path("", include("chat.web.urls")),
]
