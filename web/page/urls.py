"""Routes of the HTML pages.
They are the chat, the logins (password, passkey, OpenID Connect), logout, passwords, the profile, the first admin,
registration, signing in to MCP servers, the language, previews and the manifest.
"""

from django.contrib.auth.views import PasswordResetDoneView
from django.urls import path
from django.views.generic import TemplateView
from django.views.i18n import set_language

from web.accounts.account_deletion import DeleteAccount
from web.accounts.address_confirmation import confirm_address
from web.accounts.first_admin import FirstAdmin
from web.accounts.login_forms import Login, limited, with_passwords
from web.accounts.logins import Logins, Logout
from web.accounts.oidc import views as oidc
from web.accounts.passkeys.passkey_login import PasskeyLogin, PendingPasskey, login_options, pending_options
from web.accounts.passkeys.views import Passkey, Passkeys, RecoveryCodes, addition_options
from web.accounts.password_change import ChangePassword
from web.accounts.password_links import SetPassword
from web.accounts.password_mail import RequestPasswordLink
from web.accounts.profile import Profile
from web.accounts.registration import Register, RegisterConfirmed, RegisterInvited
from web.accounts.second_factor.views import LoginCode, SecondFactor
from web.page.index import page
from web.page.languages import catalog
from web.page.manifest import manifest
from web.page.mcp_sign_in import McpServers, mcp_callback, mcp_client, mcp_sign_in
from web.page.preview import preview_diagram, preview_html

urlpatterns = [
    path("", page, name="page"),
    path("login/", limited(Login.as_view()), name="login"),
    path("login/code/", limited(LoginCode.as_view()), name="login_code"),
    path("login/code/passkey/", limited(PendingPasskey.as_view()), name="login_code_passkey"),
    path("login/code/passkey/options/", pending_options, name="login_code_passkey_options"),
    path("login/passkey/", limited(PasskeyLogin.as_view()), name="passkey_login"),
    path("login/passkey/options/", login_options, name="passkey_login_options"),
    path("login/oidc/", limited(oidc.start), name="oidc_login"),
    path("login/oidc/callback/", limited(oidc.callback), name="oidc_callback"),
    path("login/oidc/again/", limited(oidc.again), name="oidc_again"),
    path("login/oidc/connect/", limited(oidc.connect), name="oidc_connect"),
    path("logout/", Logout.as_view(), name="logout"),
    path("password/", limited(ChangePassword.as_view()), name="password"),
    path("password/reset/", with_passwords(RequestPasswordLink.as_view()), name="password_reset"),
    path(
        "password/reset/sent/",
        PasswordResetDoneView.as_view(template_name="web/password_sent.html"),
        name="password_reset_done",
    ),
    path("password/link/<uidb64>/<token>/", with_passwords(SetPassword.as_view()), name="password_link"),
    path("profile/", limited(Profile.as_view()), name="profile"),
    path("profile/logins/", Logins.as_view(), name="logins"),
    path("profile/code/", limited(SecondFactor.as_view()), name="second_factor"),
    path("profile/passkeys/", Passkeys.as_view(), name="passkeys"),
    path("profile/passkeys/options/", addition_options, name="passkey_options"),
    path("profile/passkeys/codes/", limited(RecoveryCodes.as_view()), name="recovery_codes"),
    path("profile/passkeys/<int:passkey>/", limited(Passkey.as_view()), name="passkey"),
    path("profile/oidc/", limited(oidc.Connection.as_view()), name="oidc_connection"),
    path("profile/deletion/", limited(DeleteAccount.as_view()), name="delete_account"),
    path("profile/address/<str:token>/", confirm_address, name="confirm_address"),
    path("setup/<str:token>/", limited(FirstAdmin.as_view()), name="first_admin"),
    path("register/", limited(Register.as_view()), name="register"),
    path(
        "register/sent/", TemplateView.as_view(template_name="web/register_sent.html"), name="register_sent"
    ),
    path("register/invited/<str:token>/", limited(RegisterInvited.as_view()), name="register_invited"),
    path("register/confirmed/<str:token>/", limited(RegisterConfirmed.as_view()), name="register_confirmed"),
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
