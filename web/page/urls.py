"""Routes of the HTML pages: the chat, login, logout, passwords, the profile, the first admin, registration, shared branches, the language."""

from django.conf import settings
from django.contrib.auth.views import LoginView, PasswordResetDoneView
from django.urls import path
from django.views.generic import TemplateView
from django.views.i18n import set_language

from web.accounts.account_deletion import DeleteAccount
from web.accounts.address_confirmation import confirm_address
from web.accounts.first_admin import FirstAdmin
from web.accounts.login_forms import LimitedLogin, limited
from web.accounts.logins import Logins
from web.accounts.logout import Logout
from web.accounts.password_change import ChangePassword
from web.accounts.password_links import SetPassword
from web.accounts.password_mail import RequestPasswordLink
from web.accounts.profile import Profile
from web.accounts.registration import Register, RegisterConfirmed, RegisterInvited
from web.page.catalog import catalog
from web.page.data_export import export_account
from web.page.index import page
from web.page.shared import shared

urlpatterns = [
    path("", page, name="page"),
    path(
        "login/",
        limited(
            LoginView.as_view(
                template_name="web/login.html",
                authentication_form=LimitedLogin,
                redirect_authenticated_user=True,
                extra_context={"may_register": lambda: settings.REGISTRATION == "open"},
            )
        ),
        name="login",
    ),
    path("logout/", Logout.as_view(), name="logout"),
    path("password/", limited(ChangePassword.as_view()), name="password"),
    path("password/reset/", limited(RequestPasswordLink.as_view()), name="password_reset"),
    path(
        "password/reset/sent/",
        PasswordResetDoneView.as_view(template_name="web/password_sent.html"),
        name="password_reset_done",
    ),
    path("password/link/<uidb64>/<token>/", limited(SetPassword.as_view()), name="password_link"),
    path("profile/", limited(Profile.as_view()), name="profile"),
    path("profile/logins/", Logins.as_view(), name="logins"),
    path("profile/export/", export_account, name="export_account"),
    path("profile/deletion/", limited(DeleteAccount.as_view()), name="delete_account"),
    path("profile/address/<str:token>/", confirm_address, name="confirm_address"),
    path("setup/<str:token>/", limited(FirstAdmin.as_view()), name="first_admin"),
    path("register/", limited(Register.as_view()), name="register"),
    path(
        "register/sent/", TemplateView.as_view(template_name="web/register_sent.html"), name="register_sent"
    ),
    path("register/invited/<str:token>/", limited(RegisterInvited.as_view()), name="register_invited"),
    path("register/confirmed/<str:token>/", limited(RegisterConfirmed.as_view()), name="register_confirmed"),
    path("shared/<str:token>/", shared, name="shared"),
    path("language/", set_language, name="set_language"),
    path("language/catalog.js", catalog, name="catalog"),
]
