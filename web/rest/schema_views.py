"""Views of the machine-readable contract: OpenAPI for REST, with a page to browse it."""

from threading import Lock
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from knowledge.idle_connection import return_idle_connection
from web.rest.errors import ErrorAnswer, error_response
from web.rest.openapi import LOGINS, accepts
from web.rest.operators import MayReadContract


class RenderedSchema:
    """The OpenAPI document in each format.
    It is the same for everybody, and rendered once because that takes seconds of CPU time.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_type: dict[str, str | bytes] = {}

    def render(self, renderer: BaseRenderer) -> str | bytes:
        # A waiting request holds no database connection.
        return_idle_connection()
        with self._lock:
            if renderer.media_type not in self._by_type:
                schema: Any = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
                self._by_type[renderer.media_type] = renderer.render(schema, renderer.media_type, {})
            return self._by_type[renderer.media_type]


SCHEMA: Final = RenderedSchema()


class SchemaView(SpectacularAPIView):
    permission_classes: list[Any] = [MayReadContract]

    # Without a login only in development.
    @accepts("", *LOGINS)
    @extend_schema(
        operation_id="schema_read",
        parameters=[OpenApiParameter("lang", exclude=True), OpenApiParameter("format", exclude=True)],
        responses={200: OpenApiTypes.OBJECT, "4XX": ErrorAnswer, "5XX": ErrorAnswer},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:  # noqa: ARG002
        """Read this document; the Accept header chooses between JSON and YAML."""
        renderer = request.accepted_renderer
        headers = {"Content-Disposition": f'inline; filename="turnwire.{renderer.format}"'}
        return HttpResponse(SCHEMA.render(renderer), content_type=renderer.media_type, headers=headers)


class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI without inline scripts or styles, as the strict content security policy requires."""

    permission_classes: list[Any] = [MayReadContract]
    url_name = "schema"
    template_name = "web/api_docs.html"


@csrf_exempt  # an unknown path is a 404 for every method
def not_found(request: HttpRequest) -> JsonResponse:
    return error_response(request, 404)
