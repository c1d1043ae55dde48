"""Execution of the websocket commands that change rows, by the same use cases as the REST API.

Handlers are synchronous; the consumer calls them in threads. Each returns the reply and raises ApiError.
"""

from typing import cast
from uuid import UUID

from django.contrib.auth.models import User

from chat.compressions import requests as compression_requests
from chat.models import Run, Session, TriggeredBy, Turn
from chat.presenters.runs import present_continuation, present_turn
from chat.protocol.errors import ApiError
from chat.runs import cancellation
from chat.turns.approvals import decide, get_approval, present_decision
from chat.turns.regeneration import continue_answer
from chat.turns.start import start_turn
from web.socket import commands
from web.socket.replies import Accepted, Stopping


def send(user: User, command: commands.SendCommand) -> Accepted:
    """Start a turn."""
    session = Session.objects.get_owned(user, command.session)
    if session is None:
        raise ApiError("session_not_found")
    started = start_turn(session, command)
    return Accepted(**present_turn(started.turn, started.runs))


def stop(user: User, command: commands.StopCommand) -> Stopping:
    """Stop the run or the turn that the command names."""
    return _stop_run(user, command.run) if command.run else _stop_turn(user, cast("UUID", command.turn))


def continue_run(user: User, command: commands.ContinueCommand) -> Accepted:
    """Continue an answer that was cut at the output limit, stopped or broken off."""
    run = Run.objects.visible_to(user).for_work().filter(pk=command.run).first()
    if run is None:
        raise ApiError("run_not_found")
    continued, _ = continue_answer(run)
    return Accepted(**present_continuation(continued), status=continued.status)


def approve(user: User, command: commands.ApproveCommand) -> Accepted:
    """Decide on a tool call."""
    approval = decide(get_approval(user, command.tool_call), command)
    return Accepted(**present_decision(approval))


def compress(user: User, command: commands.CompressCommand) -> Accepted:
    """Request a compression of the session's current branch."""
    session = Session.objects.get_owned(user, command.session)
    if session is None:
        raise ApiError("session_not_found")
    is_asked = compression_requests.request_by_hand(session, TriggeredBy.USER)
    return Accepted(status="queued" if is_asked else "nothing_to_compress")


def _stop_run(user: User, run: UUID) -> Stopping:
    if not Run.objects.visible_to(user).filter(pk=run).exists():
        raise ApiError("run_not_found")
    return Stopping(run=run, status=cancellation.stop_run(run).status)


def _stop_turn(user: User, turn: UUID) -> Stopping:
    own_turn = Turn.objects.visible_to(user).filter(pk=turn).first()
    if own_turn is None:
        raise ApiError("turn_not_found")
    return Stopping(turn=turn, status=cancellation.stop_turn(own_turn).status)
