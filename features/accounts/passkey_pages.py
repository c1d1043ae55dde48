"""The profile's pages about passkeys.
The list has the form that adds a passkey; a page for each passkey renames or removes it.
"""

import logging
from typing import Any

from django import forms
from django.contrib.auth.mixins import LoginRequiredMixin
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.generic import FormView

from features.accounts import passkeys as stored
from features.accounts.account_deletion import PasswordAgain
from features.accounts.device_names import read_device_name
from features.accounts.passkey_ceremonies import PasskeyRefused, begin_addition, finish_addition
from features.accounts.passkey_login import PasskeyAnswer, options_view, unaccepted_message
from features.accounts.reauthentication import WithPasswordMixin, has_password
from features.accounts.relying_party import address_with_passkeys, domain_of
from features.accounts.second_factor import has_app, new_recovery_codes

logger = logging.getLogger(__name__)


class PasskeyName(forms.Form):
    name = forms.CharField(max_length=stored.MAX_NAME_CHARACTERS)


class NewPasskey(PasskeyAnswer):
    """The form of a new passkey.
    Without a name it is named after the browser: the device has already created the passkey.
    """

    name = forms.CharField(max_length=stored.MAX_NAME_CHARACTERS, required=False)


@method_decorator(never_cache, name="dispatch")
class Passkeys(LoginRequiredMixin, WithPasswordMixin, FormView[NewPasskey]):
    """The list of passkeys, and the form that adds one.
    addition_options() has asked for the password; the new passkey answers its challenge.
    """

    template_name = "accounts/passkeys.html"
    form_class = NewPasskey

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        rows = list(stored.passkeys_of(self.request.user))
        return super().get_context_data(**kwargs) | {
            "passkeys": [present(row, self.request) for row in rows],
            "has_room": len(rows) < stored.MAX_PASSKEYS,
            "has_app": has_app(self.request.user),
            "address_with_passkeys": address_with_passkeys(self.request),
        }

    def form_valid(self, form: NewPasskey) -> HttpResponse:
        user, name = self.request.user, form.cleaned_data["name"] or _device_name(self.request)
        try:
            fields = finish_addition(self.request, user, form.cleaned_data["credential"])
            codes = stored.add(user, fields | {"name": name})
        except (PasskeyRefused, stored.TooManyPasskeys) as refused:
            logger.warning("user %s: a passkey is refused: %r", user.pk, refused)
            form.add_error(None, unaccepted_message())
            return self.form_invalid(form)
        if codes:
            return render(self.request, "accounts/recovery_codes.html", {"codes": codes, "is_added": True})
        return HttpResponseRedirect(f"{reverse('passkeys')}?notice=added")


@method_decorator(never_cache, name="dispatch")
class RecoveryCodes(LoginRequiredMixin, WithPasswordMixin, FormView[PasswordAgain]):
    """The page that makes new recovery codes for an account with passkeys and no app.
    An app has them made with a code (SecondFactor).
    """

    template_name = "accounts/recovery_codes.html"
    form_class = PasswordAgain

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"request": self.request}

    def form_valid(self, form: PasswordAgain) -> HttpResponse:  # noqa: ARG002
        user = self.request.user
        if has_app(user) or not stored.passkeys_of(user).exists():
            return HttpResponseRedirect(reverse("second_factor"))
        return self.render_to_response(self.get_context_data(codes=new_recovery_codes(user)))


@options_view
def addition_options(request: HttpRequest) -> dict[str, Any]:
    """Return the options for a new passkey, after checking the password.
    The password comes first: a passkey that is created and then not accepted would stay on the device.
    """
    user = request.user
    if not user.is_authenticated or not has_password(user):
        raise ValidationError(_("Your login has expired or was ended. Log in to go on where you were."))
    form = PasswordAgain(request.POST, request=request)
    if not form.is_valid():
        raise ValidationError([error for errors in form.errors.values() for error in errors])
    return begin_addition(request, user)


class Passkey(LoginRequiredMixin, WithPasswordMixin, FormView[Any]):
    """The page of one passkey: action=rename renames it; otherwise it is removed, which needs the password."""

    template_name = "accounts/passkey.html"

    def get_form_class(self) -> Any:
        return PasskeyName if self._renames else PasswordAgain

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | ({} if self._renames else {"request": self.request})

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"passkey": present(self._row, self.request)}

    def form_valid(self, form: Any) -> HttpResponse:
        pk = self._row.pk
        if self._renames:
            stored.rename(self.request.user, pk, form.cleaned_data["name"])
            return HttpResponseRedirect(f"{reverse('passkeys')}?notice=renamed")
        stored.remove(self.request.user, pk)
        return HttpResponseRedirect(f"{reverse('passkeys')}?notice=removed")

    @property
    def _renames(self) -> bool:
        return self.request.POST.get("action") == "rename"

    @cached_property
    def _row(self) -> Any:
        row = stored.passkeys_of(self.request.user).filter(pk=self.kwargs["passkey"]).first()
        if row is None:
            raise Http404
        return row


def present(row: Any, request: HttpRequest) -> dict[str, Any]:
    """Return the template's values of a passkey. other_domain: its site if that is another one, else empty."""
    domain = row.data["domain"]
    return {
        "id": row.pk,
        "name": row.data["name"],
        "created_at": row.created_at,
        "used_at": row.last_used_at,
        "needs_password": row.data["is_discoverable"] is False,
        "other_domain": "" if domain == domain_of(request) else domain,
    }


def _device_name(request: HttpRequest) -> str:
    device = read_device_name(request.headers.get("User-Agent", ""))
    return device.browser or device.system or _("Passkey")
