"""The page on which users change their name and their e-mail address.

A new address is stored when the link that was sent to it is opened, since whoever reads its e-mail can set the
password. Without a mail server it is stored at once.
"""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.generic import UpdateView

from features.accounts.address_confirmation import notify_former, send_confirmation
from features.accounts.mail import charge_mail
from features.accounts.reauthentication import is_confirmed, is_fresh, unconfirmed_message


class ProfileForm(forms.ModelForm[User]):
    """A form in which a new address needs the password. Guesses of the password are limited as at the login."""

    current_password = forms.CharField(required=False, strip=False, max_length=4096)

    class Meta:
        model = User
        fields = ("first_name", "last_name", "email")

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        is_another = "email" in self.changed_data and not self.errors
        if is_another and not is_confirmed(self.request, cleaned["current_password"]):
            self.add_error("current_password", unconfirmed_message(self.request.user))
        return cleaned


class Profile(LoginRequiredMixin, UpdateView[User, ProfileForm]):
    form_class = ProfileForm
    template_name = "accounts/profile.html"

    def get_object(self, queryset: Any = None) -> User:  # noqa: ARG002
        return User.objects.get(username=self.request.user.get_username())

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"request": self.request}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"is_fresh": is_fresh(self.request)}

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
