"""The page that sends a link to set a password by e-mail. It reveals to nobody whether an account has the address.

The sending thread looks up the account, so that the response and its duration are the same in both cases.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetView
from django.http import HttpResponse, HttpResponseRedirect

from features.accounts.mail import charge_mail, send_later
from features.accounts.password_links import password_link_lifetime
from web.account_lookup import accounts_at
from web.demo_account import may_log_in
from web.site_origin import site_url


class LinkRequest(PasswordResetForm):
    def get_users(self, email: str) -> Iterable[User]:
        return [user for user in accounts_at(email) if user.has_usable_password() and may_log_in(user)]


class RequestPasswordLink(PasswordResetView):
    form_class = LinkRequest
    template_name = "accounts/password_reset.html"
    success_url = "/password/reset/sent/"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"sends_email": bool(settings.EMAIL_HOST)}

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        charge_mail(self.request, form.cleaned_data["email"])
        if settings.EMAIL_HOST:
            origin = urlsplit(site_url(""))
            send = partial(
                form.save,
                domain_override=origin.netloc,
                use_https=origin.scheme == "https",
                subject_template_name="accounts/password_mail_subject.txt",
                email_template_name="accounts/password_mail.txt",
                extra_email_context={"valid_for": password_link_lifetime()},
            )
            send_later(send)
        return HttpResponseRedirect(self.success_url)
