"""Addresses for people: the page, login, logout."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from chat.web.page import page

urlpatterns = [
    path("", page, name="page"),
    path(
        "login/",
        LoginView.as_view(template_name="chat/login.html", redirect_authenticated_user=True),
        name="login",
    ),
    path("logout/", LogoutView.as_view(), name="logout"),
]
