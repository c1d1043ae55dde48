"""The decorator that describes a view's request and responses in the OpenAPI document."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers


class ErrorAnswer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    field = serializers.CharField(required=False)
    request_id = serializers.CharField()


def documented(
    operation: str,
    *,
    body: Any = None,
    answer: Any = None,
    statuses: Sequence[int] = (200,),
    query: Mapping[str, str] | None = None,
) -> Callable[[Any], Any]:
    """Describe a view method.

    operation: the operation's id, verb last. statuses: those whose body is `answer`. query: parameters with
    their descriptions.
    """
    parameters = [
        OpenApiParameter(name, OpenApiTypes.STR, description=meaning)
        for name, meaning in (query or {}).items()
    ]
    responses: dict[Any, Any] = {**dict.fromkeys(statuses, answer), "4XX": ErrorAnswer, "5XX": ErrorAnswer}
    return extend_schema(operation_id=operation, request=body, responses=responses, parameters=parameters)
