"""Shares a branch of a session by link, and changes what a link shows. Presented by chat/presenters/shares.py."""

from chat.models import ChatMessage, Role, Session, Share, run_of
from chat.protocol.errors import ApiError
from chat.protocol.states import LIVE


def create_share(session: Session, leaf: ChatMessage | None, *, shows_details: bool) -> Share:
    """Share the branch to `leaf`; None: the current branch. Raises ApiError."""
    return Share.objects.start(
        _checked_leaf(leaf or ChatMessage.objects.tip_of(session)), shows_details=shows_details
    )


def change_share(share: Share, leaf: ChatMessage | None, **fields: bool) -> None:
    """Set another leaf (None: the same) or shows_details; the link stays. Raises ApiError."""
    share.change(**fields, **({"leaf": _checked_leaf(leaf)} if leaf else {}))


def _checked_leaf(leaf: ChatMessage) -> ChatMessage:
    """Raises ApiError unless `leaf` is a message that does not change any more."""
    if leaf.role not in (Role.USER, Role.ASSISTANT):
        raise ApiError("role_order", "There is nothing to share yet.", field="leaf")
    run = run_of(ChatMessage.objects.select_related("run").get(pk=leaf.pk))
    if run is not None and run.status in LIVE:
        raise ApiError("turn_in_progress", field="leaf")
    return leaf
