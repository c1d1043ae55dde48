"""The pages of passkeys: the login with one, instead of the password or of a code after it, and the list in the profile."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django import forms
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from django.views.generic import FormView

from chat.protocol.errors import ApiError
from features.accounts import passkeys as stored
from features.accounts.login import Login, PendingLogin, pending_user
from features.accounts.login_attempt import address_of, link_attempt
from features.accounts.logins import read_device_name
from features.accounts.passkeys import (
    MAX_ANSWER_CHARACTERS,
    PasskeyRefused,
    address_with_passkeys,
    begin_addition,
    begin_login,
    domain_of,
    finish_addition,
    finish_login,
)
from features.accounts.passwords import PasswordAgain, PasswordPage, WithRequest, has_password
from features.accounts.second_factor import check, has_app, new_recovery_codes
from features.accounts.staff_groups import follow_groups
from web.accounts import charge, may_log_in, spend

logger = logging.getLogger(__name__)

# (logins begun at once, seconds after which one more is allowed), by address: each stores a session.
PER_ADDRESS: Final = (40, 10)


def options_view(view: Callable[[HttpRequest], dict[str, Any]]) -> Callable[..., HttpResponse]:
    """Wrap a view that returns the browser's options. The response has `options`, or a `message` about the error."""

    @require_POST
    @never_cache
    @wraps(view)
    def answer(request: HttpRequest) -> HttpResponse:
        try:
            return JsonResponse({"options": view(request)})
        except ValidationError as error:
            return JsonResponse({"message": " ".join(error.messages)}, status=400)
        except PasskeyRefused:
            return JsonResponse({"message": unaccepted_message()}, status=400)
        except ApiError as refused:
            response = JsonResponse({"message": _("Too many attempts")}, status=refused.status)
            response["Retry-After"] = str(refused.retry_after_s or 1)
            return response

    return answer


def unaccepted_message() -> str:
    return _("This passkey was not accepted. Try again, or take another way.")


class PasskeyAnswer(WithRequest, forms.Form):
    credential = forms.CharField(max_length=MAX_ANSWER_CHARACTERS, strip=False)


class PasskeyAlone(PasskeyAnswer):
    """The form of a login with only a passkey.
    It is limited by address only: the account is a claim of the client, and a signature cannot be guessed.
    """

    user: Any = None

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        with link_attempt(self.request) as accept:
            try:
                user = finish_login(self.request, cleaned.get("credential", ""))
            except PasskeyRefused as refused:
                logger.warning("a passkey is refused: %s", refused)
                raise ValidationError(unaccepted_message()) from None
            if not (has_password(user) and may_log_in(user)):
                raise ValidationError(unaccepted_message())
            accept()
        follow_groups(user)
        self.user = user
        return cleaned

    def get_user(self) -> Any:
        return self.user


class PasskeyLogin(Login):
    """Login with only a passkey. The passkey has verified its user, so no second factor is asked for."""

    authentication_form = PasskeyAlone  # type: ignore[assignment]

    def form_valid(self, form: Any) -> HttpResponse:
        return LoginView.form_valid(self, form)


@options_view
def login_options(request: HttpRequest) -> dict[str, Any]:
    spend([charge(PER_ADDRESS, "passkey", address_of(request))])
    return begin_login(request)


class PendingPasskey(PendingLogin):
    form_class = PasskeyAnswer

    def form_valid(self, form: PasskeyAnswer) -> HttpResponse:
        if not check(self.request, self.user, lambda: self._is_accepted(form.cleaned_data["credential"])):
            form.add_error(None, unaccepted_message())
            return self.form_invalid(form)
        return self.complete()

    def _is_accepted(self, answer: str) -> bool:
        try:
            finish_login(self.request, answer, self.user)
        except PasskeyRefused as refused:
            logger.warning("a passkey is refused: %s", refused)
            return False
        return True


@options_view
def pending_options(request: HttpRequest) -> dict[str, Any]:
    user = pending_user(request)
    if user is None:
        raise ValidationError(_("Your login has expired or was ended. Log in to go on where you were."))
    return begin_login(request, user)


class PasskeyName(WithRequest, forms.Form):
    name = forms.CharField(max_length=stored.MAX_NAME_CHARACTERS)


class NewPasskey(PasskeyAnswer):
    """The form of a new passkey.
    Without a name it is named after the browser: the device has already created the passkey.
    """

    name = forms.CharField(max_length=stored.MAX_NAME_CHARACTERS, required=False)


class Passkeys(PasswordPage, FormView[NewPasskey]):
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


class RecoveryCodes(PasswordPage, FormView[PasswordAgain]):
    """The page that makes new recovery codes for an account with passkeys and no app.
    An app has them made with a code (SecondFactor).
    """

    template_name = "accounts/recovery_codes.html"
    form_class = PasswordAgain

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


class Passkey(PasswordPage, FormView[Any]):
    """The page of one passkey: action=rename renames it; otherwise it is removed, which needs the password."""

    template_name = "accounts/passkey.html"

    def get_form_class(self) -> Any:
        return PasskeyName if self._renames else PasswordAgain

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
