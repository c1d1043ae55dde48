"""The route of AG-UI."""

from django.http import HttpResponseBase
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request

from features.agui.run_input import AgUiRunBody
from features.agui.stream import stream_run
from features.agui.threads import join_run
from features.openai.authentication import BearerAuthentication, Caller, HasToken
from features.openai.sse import reading
from web.rest.api_view import StrictAPIView
from web.rest.openapi import documented, query


class AgUiView(StrictAPIView):
    authentication_classes = [BearerAuthentication]
    permission_classes = [HasToken]

    @documented(
        "agui_run",
        body=AgUiRunBody,
        answer={"text/event-stream": OpenApiTypes.STR},
        parameters=[
            query("model", {"type": "string"}, "A model, or `agent/` and the lowercase name of an agent.")
        ],
    )
    def post(self, request: Request) -> HttpResponseBase:
        """Run an agent as AG-UI 1.0 says. The events end when the run has ended, or waits for its user.

        A client that disconnects stops nothing: the same request joins the run again.
        """
        body = self.parse(AgUiRunBody)
        with reading(request) as reader:
            joined = join_run(Caller.of(request), body, request.query_params.get("model"))
        return stream_run(reader, joined)


urlpatterns = [path("agui", AgUiView.as_view())]
