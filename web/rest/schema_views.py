"""Serves the machine-readable contract: OpenAPI for REST with a page to browse it, AsyncAPI for the websocket."""

from pathlib import Path
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from web.rest.api_view import StrictAPIView
from web.rest.errors import error_response
from web.rest.openapi import LOGINS, ErrorAnswer, accepts
from web.rest.operators import MayReadContract

ASYNCAPI: Final = Path(__file__).parent / "asyncapi.yaml"


class SchemaView(SpectacularAPIView):
    permission_classes: list[Any] = [MayReadContract]

    # Without a login in development only.
    @accepts("", *LOGINS)
    @extend_schema(
        operation_id="schema_read",
        parameters=[OpenApiParameter("lang", exclude=True), OpenApiParameter("format", exclude=True)],
        responses={200: OpenApiTypes.OBJECT, "4XX": ErrorAnswer, "5XX": ErrorAnswer},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Read this document; the Accept header chooses between JSON and YAML."""
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        return response


class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI without inline scripts or styles, as the strict content security policy requires."""

    permission_classes: list[Any] = [MayReadContract]
    url_name = "schema"
    template_name = "web/api_docs.html"


class AsyncApiView(StrictAPIView):
    permission_classes: list[type[BasePermission]] = [MayReadContract]

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:  # noqa: ARG002
        return HttpResponse(ASYNCAPI.read_bytes(), content_type="application/yaml")


@csrf_exempt  # an unknown path is a 404 for every method
def not_found(request: HttpRequest) -> JsonResponse:
    return error_response(request, 404)
