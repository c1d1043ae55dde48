"""The admin of users and API tokens. It extends Django's and knox's, and closes sockets as soon as access ends."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from knox.admin import AuthTokenAdmin
from knox.models import AuthToken

from chat.events import access
from chat.runs.cancellation import stop_abandoned_runs
from web.accounts.account_deletion import is_last_admin, request_deletion
from web.accounts.staff_groups import follow_groups, is_in_staff_group
from web.admin.daily_limits import limits_of_today
from web.admin.password_links import PasswordLinkMixin

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
class AccountAdmin(PasswordLinkMixin):
    """The admin of users. Deactivating a user stops the user's runs and closes sockets and shared links.
    Shared links open again when the user is activated.
    """

    readonly_fields = ("today",)

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


@admin.register(AuthToken)
class TokenAdmin(AuthTokenAdmin):  # type: ignore[misc]
    """The admin of API tokens. A new token is a way into its user's account, past the second factor: it needs the
    permission to change users, as a new password does. For the same reason none is changed.
    """

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
