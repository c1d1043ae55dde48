"""The admin of invitations. Staff create links with which others register; a link is e-mailed, or displayed once."""

from datetime import timedelta
from functools import partial
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.mail import send_mail
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models import Invitation
from web.accounts.mail import send_later
from web.site_origin import site_url


class InvitationForm(forms.ModelForm[Invitation]):
    days = forms.IntegerField(label=_("Valid for days"), min_value=1, max_value=365, initial=7)

    class Meta:
        model = Invitation
        fields = ("email", "group", "max_uses")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("email") and not settings.EMAIL_HOST:
            self.add_error("email", _("This site sends no e-mail."))
        if cleaned.get("email") and cleaned.get("max_uses") != 1:
            self.add_error("max_uses", _("An invitation by e-mail is for one account."))
        if cleaned.get("max_uses") == 0:
            self.add_error("max_uses", _("At least one account."))
        return cleaned


@admin.register(Invitation)
class InvitationAdmin(admin.ModelAdmin[Invitation]):
    """Invitations, which cannot be changed. Deleting one makes its link void."""

    list_display = ("__str__", "email", "group", "uses", "max_uses", "created_by", "created_at", "expires_at")
    list_select_related = ("group", "created_by")
    form = InvitationForm

    def get_fields(self, request: HttpRequest, obj: Invitation | None = None) -> Any:
        if obj is not None:
            return self.list_display[1:]
        # A group may give rights, so only staff who may change users may choose it for an invitation.
        may_give_groups = request.user.has_perm("auth.change_user")
        return ("email", *(("group",) if may_give_groups else ()), "max_uses", "days")

    def has_change_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:  # noqa: ARG002
        return False

    def save_model(self, request: HttpRequest, obj: Invitation, form: Any, change: bool) -> None:
        obj.expires_at = timezone.now() + timedelta(days=form.cleaned_data["days"])
        token = obj.new_token(request.user)
        super().save_model(request, obj, form, change)
        request.invitation_link = site_url(  # type: ignore[attr-defined]
            reverse("register_invited", args=[token])
        )

    def response_add(
        self, request: HttpRequest, obj: Invitation, post_url_continue: str | None = None
    ) -> HttpResponse:
        link = request.invitation_link  # type: ignore[attr-defined]
        if obj.email:
            send_later(partial(_send, obj.email, link, obj.expires_at))
            return super().response_add(request, obj, post_url_continue)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Invitation"),
            "opts": self.opts,
            "original": obj,
            "link": link,
            "is_closed": settings.REGISTRATION == "closed",
        }
        return TemplateResponse(request, "admin/chat/invitation/link.html", context)


def _send(address: str, link: str, expires_at: Any) -> None:
    """Send the e-mail with the link, in the active language of the thread."""
    context = {"link": link, "expires_at": expires_at}
    subject = render_to_string("web/invitation_mail_subject.txt", context).strip()
    send_mail(subject, render_to_string("web/invitation_mail.txt", context), None, [address])
