"""Routes of the pages of accounts: logins (password, passkey, OpenID Connect), logout, passwords, the profile, the first admin
and registration.
"""

from collections.abc import Callable

from django.http import HttpResponseBase
from django.urls import path
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.generic import TemplateView

from features.accounts import oidc
from features.accounts.account_deletion import DeleteAccount
from features.accounts.login import Login, LoginCode, limited, with_passwords
from features.accounts.logins import Logins, Logout
from features.accounts.passkey_pages import (
    Passkey,
    PasskeyLogin,
    Passkeys,
    PendingPasskey,
    RecoveryCodes,
    addition_options,
    login_options,
    pending_options,
)
from features.accounts.passwords import ChangePassword, RequestPasswordLink, SetPassword
from features.accounts.profile import Profile, confirm_address
from features.accounts.registration import FirstAdmin, Register, RegisterConfirmed, RegisterInvited
from features.accounts.second_factor import SecondFactor


def mail_sent(text: str | Promise) -> Callable[..., HttpResponseBase]:
    return TemplateView.as_view(template_name="accounts/mail_sent.html", extra_context={"sent": text})


urlpatterns = [
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
        mail_sent(_("If an account has this address, a link to set a new password is on its way.")),
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
        "register/sent/",
        mail_sent(_("An e-mail that says how to go on is on its way to the address.")),
        name="register_sent",
    ),
    path("register/invited/<str:token>/", limited(RegisterInvited.as_view()), name="register_invited"),
    path("register/confirmed/<str:token>/", limited(RegisterConfirmed.as_view()), name="register_confirmed"),
]
