"""Runs: their state, their packets, their cancellation."""

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from chat.log.reader import packets_after
from chat.models import Run
from chat.presenters.runs import present_run
from chat.protocol.errors import ApiError
from chat.runs import cancellation
from web.rest.openapi import documented
from web.rest.schemas import PacketsAnswer, RunAnswer, StatusAnswer
from web.rest.turns import stop_response
from web.rest.view import Endpoint, find, user_of


class RunView(Endpoint):
    @documented("runs_read", answer=RunAnswer)
    def get(self, request: Request, run: str) -> Response:
        return Response(present_run(_own_run(request, run)))


class PacketsView(Endpoint):
    @documented("packets_list", answer=PacketsAnswer, query={"after": "the seq of the last known packet"})
    def get(self, request: Request, run: str) -> HttpResponse:
        found = _own_run(request, run)
        logged = packets_after(found, _after(request.query_params))
        # The lines are JSON already: they are joined, not read.
        body = b'{"attempt":%d,"complete":%s,"packets":[%s]}' % (
            logged.attempt,
            b"true" if logged.complete else b"false",
            b",".join(logged.lines),
        )
        return HttpResponse(body, content_type="application/json")


class RunCancellationView(Endpoint):
    @documented("runs_cancel", answer=StatusAnswer, statuses=(202, 200))
    def post(self, request: Request, run: str) -> Response:
        return stop_response(cancellation.stop_run(_own_run(request, run).pk))


def _own_run(request: Request, pk: str) -> Run:
    return find(Run.objects.visible_to(user_of(request)).for_work(), pk, "run")


def _after(parameters: Any) -> int:
    text = parameters.get("after", "0")
    if not (text.isascii() and text.isdecimal() and len(text) <= 10):
        raise ApiError("invalid_cursor", field="after")
    return int(text)
