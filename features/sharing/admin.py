"""The admin of shares, which lists public links and revokes them. Only the owner sees the link itself."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import ChatMessage, Session, Share
from web.admin.actions import ObjectActionsAdmin
from web.admin.read_only import ReadOnlyAdmin
from web.admin.search import SearchAdmin


@admin.register(Share)
class ShareAdmin(SearchAdmin[Share], ObjectActionsAdmin[Share], ReadOnlyAdmin[Share]):
    list_display = ("short_id", "session", "owner", "shows_details", "created_at", "expires_at", "revoked_at")
    list_select_related = ("session__owner",)
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "shows_details", "created_at")
    owner_field = "session__owner"
    text_fields = ("session__title",)
    related_ids = ((Session, "shares"), (ChatMessage, "session__shares"))
    search_help_text = _(
        "A user's name, words of a title, the id of a share, of its session or of a message in it."
    )
    actions = ("revoke",)
    object_actions = actions

    def get_readonly_fields(self, request: HttpRequest, obj: Share | None = None) -> list[str]:
        return [name for name in super().get_readonly_fields(request, obj) if name != "digest"]

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Return the permission that Django checks for actions with permissions=["operate"]."""
        return request.user.has_perm("chat.change_share")

    @admin.action(description=_("Revoke"), permissions=["operate"])
    def revoke(self, request: HttpRequest, chosen: QuerySet[Share]) -> None:
        for share in chosen:
            share.revoke()
            self.log_change(request, share, "Revoke")
            text = _("The share %(id)s is revoked.") % {"id": share.pk}
            self.message_user(request, text, messages.INFO)

    @admin.display(description=_("owner"))
    def owner(self, share: Share) -> str:
        return share.session.owner.get_username()
