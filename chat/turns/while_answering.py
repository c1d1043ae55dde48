"""Applies a session's `while_answering` setting to a message that is sent while its tip is being answered."""

from chat.infrastructure.after_commit import call_after_commit
from chat.models import Session, Turn
from chat.protocol.errors import ApiError
from chat.runs import cancellation
from chat.transcript.session_settings import WhileAnswering


def apply_while_answering(session: Session, blocker: Turn | None) -> Turn | None:
    """Return the turn that a new one waits for; interrupt it after the commit if so set. Call it in a transaction.

    blocker: the turn in progress, with `after` loaded, or None. Raises ApiError if the setting is `reject`.
    """
    if blocker and session.settings.while_answering == WhileAnswering.REJECT:
        raise ApiError("turn_in_progress")
    if blocker and session.settings.while_answering == WhileAnswering.INTERRUPT:
        # After the commit: a message that is refused for another reason must not interrupt anything.
        call_after_commit(cancellation.interrupt, blocker)
    return blocker
