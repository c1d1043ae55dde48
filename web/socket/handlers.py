"""What a socket's commands change, with the very verbs of the REST API. Synchronous; run in threads."""

from typing import Any
from uuid import UUID

from chat.compressions import requests as compression_requests
from chat.models import Run, Session, TriggeredBy, Turn
from chat.presenters.turns import present_turn
from chat.protocol.errors import ApiError
from chat.runs import cancellation
from chat.turns.start import start_turn
from web.rest.turns import turn_request
from web.socket import commands


def send(user: Any, members: commands.Members) -> dict[str, Any]:
    """Start a turn; the members but `session` are the body of POST turns."""
    session = Session.objects.own(user, commands.identifier(members, "session"))
    if session is None:
        raise ApiError("session_not_found")
    body = {name: value for name, value in members.items() if name != "session"}
    started = start_turn(session, turn_request(body))
    return {"type": "accepted", **present_turn(started.turn, started.runs)}


def stop(user: Any, members: commands.Members) -> dict[str, Any]:
    """Stop the run or the turn that is named."""
    noun, pk = commands.stop(members)
    return _stop_run(user, pk) if noun == "run" else _stop_turn(user, pk)


def compress(user: Any, members: commands.Members) -> dict[str, Any]:
    """Have the current branch of the session compressed."""
    session = Session.objects.own(user, commands.identifier(members, "session"))
    if session is None:
        raise ApiError("session_not_found")
    is_asked = compression_requests.request_by_hand(session, TriggeredBy.USER)
    return {"type": "accepted", "status": "queued" if is_asked else "nothing_to_compress"}


def _stop_run(user: Any, run: UUID) -> dict[str, Any]:
    if not Run.objects.visible_to(user).filter(pk=run).exists():
        raise ApiError("run_not_found")
    return {"type": "stopping", "run": str(run), "status": cancellation.stop_run(run).status}


def _stop_turn(user: Any, turn: UUID) -> dict[str, Any]:
    found = Turn.objects.filter(session__owner=user, pk=turn).first()
    if found is None:
        raise ApiError("turn_not_found")
    return {"type": "stopping", "turn": str(turn), "status": cancellation.stop_turn(found).status}
