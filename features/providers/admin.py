"""The admin of model providers. Keys are entered and never displayed: in no form, list or history."""

from typing import Any, cast

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.infrastructure import encryption
from chat.models import Provider
from chat.models.model_server_rules import is_same_server, provider_address_problem
from features.providers.providers import change_provider, create_provider


class ProviderForm(forms.ModelForm[Provider]):
    """A form in which an empty key field keeps the stored key."""

    api_key = forms.RegexField(
        r"^[!-~]*$",
        label=_("API key"),
        max_length=2_000,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=_("Stored encrypted, and never shown. Empty: the stored key stays."),
    )
    removes_key = forms.BooleanField(label=_("Remove the stored key"), required=False)

    class Meta:
        model = Provider
        fields = ("name", "base_url", "is_enabled")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        address, before = cleaned.get("base_url", ""), self.initial.get("base_url", "")
        if address and (problem := provider_address_problem(address)):
            self.add_error("base_url", problem)
        same_name = Provider.objects.existing().filter(name=cleaned.get("name"))
        if same_name.exclude(pk=self.instance.pk).exists():
            self.add_error("name", _("There is a provider of this name."))
        if cleaned.get("api_key") and not encryption.is_available():
            self.add_error("api_key", _("Keys cannot be stored: SECRETS_KEYS is not set."))
        keeps_key = self.instance.has_key and not (cleaned.get("api_key") or cleaned.get("removes_key"))
        if keeps_key and address and not is_same_server(address, before):
            self.add_error("api_key", _("The stored key is not sent to another server. Enter the key again."))
        return cleaned


@admin.register(Provider)
class ProviderAdmin(admin.ModelAdmin[Provider]):
    """The admin of providers. They are deleted on the chat page, which explains what happens to their models."""

    form = ProviderForm
    fields = (
        "name",
        "base_url",
        "is_enabled",
        "has_key",
        "api_key",
        "removes_key",
        "created_by",
        "created_at",
    )
    readonly_fields = ("has_key", "created_by", "created_at")
    list_display = ("name", "base_url", "is_enabled", "has_key", "created_by", "created_at")
    list_select_related = ("created_by",)
    list_filter = ("is_enabled",)
    search_fields = ("id", "name", "base_url")

    @admin.display(description=_("has a key"), boolean=True)
    def has_key(self, provider: Provider) -> bool:
        return provider.has_key

    def get_queryset(self, request: HttpRequest) -> QuerySet[Provider]:
        return super().get_queryset(request).filter(deleted_at=None)

    def has_delete_permission(self, *args: object) -> bool:  # noqa: ARG002
        return False

    def save_model(self, request: HttpRequest, obj: Provider, form: Any, change: bool) -> None:
        fields = {name: form.cleaned_data[name] for name in ("name", "base_url", "is_enabled")}
        key = form.cleaned_data["api_key"]
        if change:
            stored = Provider.objects.get(pk=obj.pk)
            is_kept = not key and not form.cleaned_data["removes_key"]
            change_provider(stored, api_key=None if is_kept else key, **fields)
        else:
            obj.pk = create_provider(cast("User", request.user), api_key=key, **fields).pk
