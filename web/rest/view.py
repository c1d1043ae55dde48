"""What every view shares: whose rows, which id, which body."""

from typing import Any, TypeVar, cast

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from chat.protocol.errors import ApiError
from chat.protocol.strict_json import is_storable
from web.rest.fields import parse_id

Row = TypeVar("Row", bound=Model)


class JsonAnyway(DefaultContentNegotiation):
    """There is only JSON: an Accept header changes nothing."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:  # noqa: ARG002
        return renderers[0], renderers[0].media_type


class Endpoint(APIView):
    """Looks up what the path names before it reads the body."""

    content_negotiation_class = JsonAnyway
    metadata_class = None  # OPTIONS would describe objects without looking whose they are

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        # DRF takes a request without a length for one without a body; a chunked one has no length. What it
        # says is not used: the parser reads what is there, up to its own limit.
        if "Transfer-Encoding" in request.headers and not request.META.get("CONTENT_LENGTH"):
            request.META["CONTENT_LENGTH"] = "1"
        return super().initialize_request(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not all(
            is_storable(text) for pair in request.query_params.lists() for text in (pair[0], *pair[1])
        ):
            raise ApiError("invalid_characters")

    def body(self, accepted: type[Serializer[Any]], *, partial: bool = False) -> dict[str, Any]:
        """partial: what is left out is left out, required or not."""
        serializer = accepted(data=self.request.data, partial=partial)
        serializer.is_valid(raise_exception=True)
        return dict(serializer.validated_data)


def user_of(request: Request) -> User:
    """The logged-in user; the permission classes let nobody else in."""
    return cast("User", request.user)


def find(rows: QuerySet[Row], text: str, noun: str, *, field: str | None = None) -> Row:
    """The row with this id among `rows`, which are the user's own: others' rows are not there.

    noun: names the refusal, `<noun>_not_found`.
    """
    pk = parse_id(text)
    if pk is None:
        raise ApiError("invalid_id", field=field)
    found = rows.filter(pk=pk).first()
    if found is None:
        raise ApiError(f"{noun}_not_found", field=field)
    return found
