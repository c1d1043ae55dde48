"""The base class of API views, and the lookup of the user's own rows."""

from typing import Any, ClassVar, Final, TypeVar, cast

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.infrastructure.gc_tuning import free_circles
from chat.protocol.body import B, parse_id
from chat.protocol.errors import ApiError
from chat.protocol.strict_json import is_storable
from web.rest.request_slots import REQUESTS, Slot, UserSlots

Row = TypeVar("Row", bound=Model)
# Of an answer that waits for its client, what the sockets between take anyway.
BUFFERED_BYTES: Final = 256 * 1024


class JsonOnlyNegotiation(DefaultContentNegotiation):
    """Content negotiation that ignores the Accept header: every response is JSON."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:  # noqa: ARG002
        return renderers[0], renderers[0].media_type


class StrictAPIView(APIView):
    """An APIView with strict JSON bodies.

    Views look up the rows that the path names before they call parse(). Every method has a docstring:
    this one would be its description in the OpenAPI document.
    """

    content_negotiation_class = JsonOnlyNegotiation
    # The slots for concurrent requests of a user: EXPENSIVE for methods that may take seconds.
    slots: ClassVar[UserSlots] = REQUESTS
    _slot: Slot | None = None
    metadata_class = None  # OPTIONS would describe objects without checking their owner

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        # DRF treats a request without a length, such as a chunked one, as one without a body. The value is not used:
        # the parser reads up to its own limit.
        if "Transfer-Encoding" in request.headers and not request.META.get("CONTENT_LENGTH"):
            request.META["CONTENT_LENGTH"] = "1"
        return super().initialize_request(request, *args, **kwargs)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            response = super().dispatch(request, *args, **kwargs)
            # DRF's references in a circle would keep the request and the answer until some later collection.
            del self.response
            self.request.parser_context.clear()
            if isinstance(response, Response):
                response.render()
                response.data = response.renderer_context = None  # type: ignore[attr-defined]
            if len(getattr(response, "content", b"")) > BUFFERED_BYTES:
                # It is in memory until it is sent, and each user has few slots.
                response._resource_closers.append(self.keep_slot().free)  # type: ignore[attr-defined]  # noqa: SLF001  Django has no public way
                free_circles()
            return response
        finally:
            if self._slot is not None:
                self._slot.free()

    def keep_slot(self) -> Slot:
        """Return the slot of the request, which whoever calls this frees once the response is sent."""
        slot, self._slot = self._slot or Slot(None, None), None
        return slot

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.user.pk is not None:
            self._slot = self.slots_of(request).take(request.user.pk)
        if not all(
            is_storable(text) for pair in request.query_params.lists() for text in (pair[0], *pair[1])
        ):
            raise ApiError("invalid_characters")

    def slots_of(self, request: Request) -> UserSlots:  # noqa: ARG002
        """Return the slots of which the request takes one."""
        return self.slots

    def parse(self, accepted: type[B]) -> B:
        """Validate and return the request's body. Raises ApiError."""
        return accepted.parse(self.request.data)


def current_user(request: Request) -> User:
    """Return the logged-in user; the permission classes reject anonymous requests."""
    return cast("User", request.user)


def query_flag(request: Request, name: str) -> bool | None:
    """Parse a query parameter that is 0 or 1; return None if it is omitted. Raises ApiError."""
    text = request.query_params.get(name)
    if text not in (None, "0", "1"):
        raise ApiError("invalid_value", "0 or 1.", field=name)
    return None if text is None else text == "1"


def get_own_row(rows: QuerySet[Row], text: str, noun: str, *, field: str | None = None) -> Row:
    """Return the row with this id among `rows`, which must be limited to the user's own.

    Raises ApiError: `invalid_id` or `<noun>_not_found`.
    """
    pk = parse_id(text)
    if pk is None:
        raise ApiError("invalid_id", field=field)
    row = rows.filter(pk=pk).first()
    if row is None:
        raise ApiError(f"{noun}_not_found", field=field)
    return row
