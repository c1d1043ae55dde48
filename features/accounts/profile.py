"""The page on which users change their name and their e-mail address.

A new address is stored when its user, logged in, opens the link that was sent to it, since whoever reads its e-mail can
set the password. Without a mail server it is stored at once.
"""

from functools import partial
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.generic import UpdateView

from features.accounts.mail import charge_mail, send_later, send_mail_of
from features.accounts.passwords import (
    AccountPage,
    WithRequest,
    is_confirmed,
    password_link_lifetime,
    read_link,
    unconfirmed_message,
)
from web.site_origin import site_url

_SALT: Final = "web.accounts.profile"


class ProfileForm(WithRequest, forms.ModelForm[User]):
    """A form in which a new address needs the password. Guesses of the password are limited as at the login."""

    current_password = forms.CharField(required=False, strip=False, max_length=4096)

    class Meta:
        model = User
        fields = ("first_name", "last_name", "email")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        is_another = "email" in self.changed_data and not self.errors
        if is_another and not is_confirmed(self.request, cleaned["current_password"]):
            self.add_error("current_password", unconfirmed_message(self.request.user))
        return cleaned


class Profile(AccountPage, UpdateView[User, ProfileForm]):
    form_class = ProfileForm
    template_name = "accounts/profile.html"

    def get_object(self, queryset: Any = None) -> User:  # noqa: ARG002
        return self.user

    def form_valid(self, form: ProfileForm) -> HttpResponse:
        # Only these columns are saved: the password may change meanwhile.
        values = {name: form.cleaned_data[name] for name in ("first_name", "last_name")}
        address = form.cleaned_data["email"]
        notice = "saved"
        if "email" not in form.changed_data:
            pass
        elif settings.EMAIL_HOST and address:
            charge_mail(self.request, address)
            user = User.objects.get(pk=form.instance.pk)
            send_confirmation(user, address)
            notice = "sent"
        else:
            values["email"] = address
            notify_former(form.initial["email"], form.instance.get_username())
        User.objects.filter(pk=form.instance.pk).update(**values)
        return HttpResponseRedirect(f"{reverse('profile')}?notice={notice}")


def send_confirmation(user: User, address: str) -> None:
    """Send a link that makes `address` the address of `user`. Raises ApiError as send_later() does."""
    token = signing.dumps([user.pk, user.email, address], salt=_salt(user))
    link = site_url(reverse("confirm_address", args=[token]))
    send_later(
        lambda: send_mail_of("address", address, {"link": link, "valid_for": password_link_lifetime()})
    )


@require_safe
@never_cache
@login_required
def confirm_address(request: HttpRequest, token: str) -> HttpResponse:
    """Store the address that the link was sent to.
    The link must be valid, and its user must be logged in and still have the address and the password of the time when
    it was sent.
    """
    user, old, new = read_link(token, _salt(request.user)) or ("", "", "")
    own = User.objects.filter(username=request.user.get_username())
    if user != request.user.pk or not own.filter(email=old).update(email=new):
        return render(request, "accounts/address_link.html", status=404)
    notify_former(old, request.user.get_username())
    return redirect(f"{reverse('profile')}?notice=address")


def _salt(user: Any) -> str:
    """Return the salt of the user's links: who asked for one with a former password may have been somebody else."""
    return f"{_SALT}.{user.get_session_auth_hash()}"


def notify_former(address: str, name: str) -> None:
    """Tell a former address that the account `name` has another one now.
    Without an address or a mail server, do nothing.
    """
    if settings.EMAIL_HOST and address:
        send_later(partial(send_mail_of, "former_address", address, {"name": name}))
