"""Django's ASGI handler, which closes a response that raises while it is sent, and keeps no content that was sent.
A body that has no room in the temporary folder is left to web/rest/request_bodies.py.

Django omits that: a slot or an open content that the response holds would never be released, nor would a database
connection of the request. The content would stay until a later collection, since the handler's tasks, their exceptions
and its frames refer to each other.
"""

from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http.response import HttpResponseBase

from web.rest.request_bodies import BodyNotStored


class HttpHandler(ASGIHandler):
    async def read_body(self, receive: Any) -> Any:
        try:
            return await super().read_body(receive)
        except OSError as error:
            raise BodyNotStored from error

    async def send_response(self, response: HttpResponseBase, send: Any) -> None:
        try:
            await super().send_response(response, send)
        except Exception:
            await sync_to_async(response.close)()
            raise
        finally:
            if not response.streaming:
                response.content = b""  # type: ignore[attr-defined]
