"""The routes of webhooks. A secret is answered once, when it is made."""

from typing import Annotated, Any, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.urls import path
from msgspec import Meta
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.infrastructure import encryption
from chat.protocol.answer import Answer, Moment, doc
from chat.protocol.body import Body, patched
from chat.protocol.errors import ApiError
from chat.runs.quotas import lock_user
from features.webhooks.models import Webhook, new_secret
from knowledge.fetching.target import MAX_URL_CHARACTERS, UrlRefused, parse_target
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented

MAX_WEBHOOKS: Final = 10


class WebhookAnswer(Answer):
    id: UUID
    url: str
    is_enabled: Annotated[
        bool,
        doc("Becomes false when it answers with 410, or when 20 events in a row were given up after a day."),
    ]
    last_attempt_at: Annotated[Moment | None, doc("Null: it was told nothing yet.")]
    last_status: Annotated[int | None, doc("The status of its latest answer; null: there was none.")]
    last_error: Annotated[str, doc("Why there was no answer, such as `timeout` or `url_address_blocked`.")]
    failures: Annotated[int, doc("Attempts in a row that have failed.")]
    created_at: Moment
    updated_at: Moment


class WebhookSecretAnswer(WebhookAnswer):
    secret: Annotated[str, doc("With which events are signed. Returned only in this response.")]


class WebhookBody(Body):
    url: Annotated[
        str,
        Meta(max_length=MAX_URL_CHARACTERS),
        doc(
            "Is sent a POST for each answer that has ended, or asks for approvals. It leads to a public server."
        ),
    ]
    is_enabled: bool = True


class WebhooksView(StrictAPIView):
    @documented("webhooks_list", answer=list[WebhookAnswer])
    def get(self, request: Request) -> Response:
        """List the user's webhooks, newest first."""
        rows = Webhook.objects.visible_to(current_user(request))
        return Response([WebhookAnswer.from_row(row).json() for row in rows])

    @documented("webhooks_create", body=WebhookBody, answer=WebhookSecretAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """Create a webhook, which is told of all answers of the user that end from now on, but for temporary chats."""
        owner = current_user(request)
        fields = _checked(self.parse(WebhookBody))
        secret, encrypted = _new_secret()
        with transaction.atomic():
            lock_user(owner)
            if Webhook.objects.visible_to(owner).count() >= MAX_WEBHOOKS:
                raise ApiError("too_many_webhooks", max=MAX_WEBHOOKS)
            webhook = Webhook.objects.create(owner=owner, encrypted_secret=encrypted, **fields)
        answer = WebhookSecretAnswer.from_row(webhook, secret=secret)
        return Response(answer.json(), status.HTTP_201_CREATED)


class WebhookView(StrictAPIView):
    @documented("webhooks_read", answer=WebhookAnswer)
    def get(self, request: Request, webhook: str) -> Response:
        """Read a webhook, and how its latest attempt ended."""
        return Response(WebhookAnswer.from_row(_get_own_webhook(request, webhook)).json())

    @documented("webhooks_update", body=patched(WebhookBody), answer=WebhookAnswer)
    def patch(self, request: Request, webhook: str) -> Response:
        """Update a webhook; omitted fields stay as they are. One that is disabled forgets what it was still to be told."""
        row = _get_own_webhook(request, webhook)
        _change(row, **_checked(self.parse(patched(WebhookBody))))
        return Response(WebhookAnswer.from_row(row).json())

    @documented("webhooks_delete", statuses=(204,))
    def delete(self, request: Request, webhook: str) -> Response:
        """Delete a webhook, with what it was still to be told."""
        _get_own_webhook(request, webhook).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


class WebhookSecretView(StrictAPIView):
    @documented("webhooks_rotate_secret", answer=WebhookSecretAnswer)
    def post(self, request: Request, webhook: str) -> Response:
        """Replace the secret: from now on, also repeated events are signed with the new one."""
        row = _get_own_webhook(request, webhook)
        secret, encrypted = _new_secret()
        _change(row, encrypted_secret=encrypted)
        return Response(WebhookSecretAnswer.from_row(row, secret=secret).json())


def _get_own_webhook(request: Request, pk: str) -> Webhook:
    return get_own_row(Webhook.objects.visible_to(current_user(request)), pk, "webhook")


def _change(webhook: Webhook, **fields: Any) -> None:
    if not webhook.change(**fields):
        raise ApiError("webhook_not_found")


def _checked(body: Body) -> dict[str, Any]:
    """Return the fields of the body. Raises ApiError if the URL could never be told anything."""
    fields = body.members()
    if "url" in fields:
        try:
            parse_target(fields["url"], settings.URL_ALLOWED_HOSTS)
        except UrlRefused as refused:
            raise ApiError("invalid_value", f"Nothing is sent there ({refused}).", field="url") from None
    return fields


def _new_secret() -> tuple[str, str]:
    """Return a new secret, and how it is stored. Raises ApiError."""
    if not encryption.is_available():
        raise ApiError("encryption_unavailable")
    secret = new_secret()
    return secret, encryption.encrypt(secret)


urlpatterns = [
    path("webhooks/", WebhooksView.as_view()),
    path("webhooks/<id:webhook>/", WebhookView.as_view()),
    path("webhooks/<id:webhook>/rotate_secret/", WebhookSecretView.as_view()),
]
