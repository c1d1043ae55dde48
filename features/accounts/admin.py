"""The admin of users, API tokens and invitations. It extends Django's and knox's, and closes sockets as soon as access ends."""

from datetime import timedelta
from functools import partial
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery, Sum, UUIDField
from django.db.models.functions import Cast, Substr
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from knox.admin import AuthTokenAdmin
from knox.models import AuthToken

from chat.events import access
from chat.models import AccountDeletion, Invitation, TokenUse
from chat.models.token_scope import ID_CHARACTERS, scope_of
from chat.runs.cancellation import stop_abandoned_runs
from features.accounts.account_deletion import is_last_admin, request_deletion
from features.accounts.mail import send_later, send_mail_of
from features.accounts.passwords import make_password_link, password_link_lifetime
from features.accounts.staff_groups import follow_groups, is_in_staff_group
from features.usage.admin import limits_of_today
from web.accounts import may_log_in
from web.admin.read_only import visible_text
from web.site_origin import site_url

admin.site.unregister(User)
admin.site.unregister(AuthToken)
# allauth's tables: the settings define the provider, and addresses are those of the users.
for _model in (EmailAddress, SocialApp, SocialToken, SocialAccount, Authenticator):
    admin.site.unregister(_model)


class LoginInline(admin.StackedInline[Any, User]):
    """A way to log in. Staff who may change users can delete it; nobody can add or edit it."""

    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return request.user.has_perm("auth.view_user") or request.user.has_perm("auth.change_user")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return request.user.has_perm("auth.change_user")


class ProviderInline(LoginInline):
    """The provider's identity that is connected with the account."""

    model = SocialAccount
    fields = readonly_fields = ("provider", "uid", "date_joined", "last_login")


class SecondFactorInline(LoginInline):
    """The second factors, which staff delete for users who have lost their app and their recovery codes."""

    model = Authenticator
    fields = readonly_fields = ("type", "created_at", "last_used_at")


@admin.register(User)
class AccountAdmin(UserAdmin[User]):
    """The admin of users. Deactivating a user stops the user's runs and closes sockets and shared links.
    Shared links open again when the user is activated.
    """

    readonly_fields = ("today",)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Add `is_active` of an account that is being deleted: the sweeper goes on, active or not (decision 0080)."""
        is_deleted = obj is not None and AccountDeletion.objects.filter(user=obj).exists()
        return [*super().get_readonly_fields(request, obj), *(["is_active"] if is_deleted else [])]

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        today = [(_("Daily limits"), {"fields": ("today",)})] if obj else []
        return [*super().get_fieldsets(request, obj), *today]

    def get_inlines(self, request: HttpRequest, obj: User | None) -> Any:  # noqa: ARG002
        ways = ((ProviderInline, SocialAccount), (SecondFactorInline, Authenticator))
        return [inline for inline, model in ways if model.objects.filter(user=obj).exists()]

    @admin.display(description=_("used today (UTC)"))
    def today(self, user: User) -> str:
        return limits_of_today(user)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        access.announce_change(obj.pk)
        if not obj.is_active:
            transaction.on_commit(stop_abandoned_runs)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        was_member = is_in_staff_group(form.instance)
        super().save_related(request, form, formsets, change)
        follow_groups(form.instance, was_member=was_member)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002
        """Set a password, and delete the user's API tokens: whoever else had the account may have made one."""
        with transaction.atomic():
            response = super().user_change_password(request, id, form_url)
            is_changed = request.method == "POST" and response.status_code == 302
            if is_changed and AuthToken.objects.filter(user=id).delete()[0]:
                self.message_user(request, _("The API tokens of this user are deleted."))
        if is_changed:
            access.announce_change(int(id))
        return response

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List only the accounts: all of their rows are deleted too, even rows that staff may not delete separately."""
        accounts = list(objs)
        needed = set() if self.has_delete_permission(request) else {self.opts.verbose_name}
        last = [_("%(user)s, the last admin") % {"user": user} for user in accounts if is_last_admin(user)]
        count = {str(self.opts.verbose_name_plural): len(accounts)}
        return [str(user) for user in accounts], count, needed, last

    def delete_model(self, request: HttpRequest, obj: User) -> None:  # noqa: ARG002
        request_deletion(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:  # noqa: ARG002
        for user in queryset:
            request_deletion(user)

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.show_password_link)
        return [
            path("<path:id>/password-link/", view, name="auth_user_password_link"),
            *super().get_urls(),
        ]

    def show_password_link(self, request: HttpRequest, id: str) -> TemplateResponse:  # noqa: A002
        """Explain on GET the link that sets a user's password, for users without e-mail; on POST create and display it, once.
        It needs the permission to change users, as setting a password in the admin does.
        """
        user = self.get_object(request, unquote(id))
        if not self.has_change_permission(request, user):
            raise PermissionDenied
        if user is None:
            raise Http404
        context = {
            **self.admin_site.each_context(request),
            "title": _("Link to set a password"),
            "opts": self.opts,
            "original": user,
            "may_log_in": may_log_in(user),
            "valid_for": password_link_lifetime(),
        }
        if request.method == "POST" and context["may_log_in"]:
            self.log_change(request, user, "Made a link to set the password.")
            context["link"] = site_url(make_password_link(user))
        return TemplateResponse(request, "admin/auth/user/password_link.html", context)


@admin.register(AuthToken)
class TokenAdmin(AuthTokenAdmin):  # type: ignore[misc]
    """The admin of API tokens. A new token is a way into its user's account, past the second factor: it needs the
    permission to change users, as a new password does. For the same reason none is changed.
    """

    list_display = ("token_key", "user", "label", "scope", "created", "expiry", "last_used_at", "used_tokens")
    list_select_related = ("user", "scope_row")
    ordering = ("-created",)
    list_filter = ("scope_row__scope",)
    search_fields = ("digest", "token_key", "user__username", "scope_row__name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        token = Cast(Substr(OuterRef("digest"), 1, ID_CHARACTERS), UUIDField())
        since = timezone.now().date() - timedelta(days=30)
        used = TokenUse.objects.filter(token=token, day__gt=since).order_by().values("token")
        tokens = Subquery(used.annotate(sum=Sum("tokens")).values("sum"))
        rows: QuerySet[Any] = super().get_queryset(request).annotate(used_tokens=tokens)
        return rows

    @admin.display(description=_("tokens in 30 days"), ordering="used_tokens")
    def used_tokens(self, token: Any) -> int:
        return token.used_tokens or 0

    @admin.display(description=_("name"), ordering="scope_row__name")
    def label(self, token: Any) -> str:
        return visible_text(scope_of(token).name)

    @admin.display(description=_("scope"), ordering="scope_row__scope")
    def scope(self, token: Any) -> str:
        return scope_of(token).get_scope_display()

    @admin.display(description=_("last used"), ordering="scope_row__last_used_at")
    def last_used_at(self, token: Any) -> Any:
        return scope_of(token).last_used_at

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and request.user.has_perm("auth.change_user")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        access.announce_change(obj.user_id)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        super().delete_model(request, obj)
        access.announce_change(obj.user_id)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        users = set(queryset.values_list("user_id", flat=True))
        super().delete_queryset(request, queryset)
        for user_id in users:
            access.announce_change(user_id)


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
            context = {"link": link, "expires_at": obj.expires_at}
            send_later(partial(send_mail_of, "invitation", obj.email, context))
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
