"""Routes of the HTML pages: the chat, login, logout, shared branches, the language."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path
from django.views.i18n import set_language

from web.page.catalog import catalog
from web.page.index import page
from web.page.shared import shared

urlpatterns = [
    path("", page, name="page"),
    path(
        "login/",
        LoginView.as_view(template_name="web/login.html", redirect_authenticated_user=True),
        name="login",
    ),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("shared/<str:token>/", shared, name="shared"),
    path("language/", set_language, name="set_language"),
    path("language/catalog.js", catalog, name="catalog"),
]
