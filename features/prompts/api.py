"""The routes of saved prompts: texts that a user inserts into messages repeatedly."""

from typing import Annotated, Final
from uuid import UUID

from django.urls import path
from msgspec import Meta
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, Moment
from chat.protocol.body import Body, Text, Visible, patched
from chat.protocol.errors import ApiError
from chat.runs import quotas
from features.prompts.models import SavedPrompt
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented
from web.rest.pagination import newest_rows_parameters, read_newest_rows

# The same limit as for a message.
MAX_TEXT_CHARACTERS: Final = 100_000


class SavedPromptAnswer(Answer):
    id: UUID
    name: str
    text: str
    created_at: Moment
    updated_at: Moment


class SavedPromptBody(Body):
    name: Annotated[Visible, Meta(max_length=200)]
    text: Annotated[Text, Meta(max_length=MAX_TEXT_CHARACTERS)]


class SavedPromptsView(StrictAPIView):
    @documented(
        "prompts_list",
        answer=list[SavedPromptAnswer],
        parameters=newest_rows_parameters("prompts"),
    )
    def get(self, request: Request) -> Response:
        """List the user's saved prompts, latest update first, at most 200. The next page is `before` the last one."""
        own = SavedPrompt.objects.visible_to(current_user(request))
        rows, headers = read_newest_rows(request, own, "prompt", ("text",))
        return Response([present_saved_prompt(prompt) for prompt in rows], headers=headers)

    @documented("prompts_create", body=SavedPromptBody, answer=SavedPromptAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """Save a prompt."""
        owner = current_user(request)
        fields = self.parse(SavedPromptBody).members()
        with quotas.PROMPTS.room_for_one(owner):
            prompt = SavedPrompt.objects.create(owner=owner, **fields)
        return Response(present_saved_prompt(prompt), status.HTTP_201_CREATED)


class SavedPromptView(StrictAPIView):
    @documented("prompts_read", answer=SavedPromptAnswer)
    def get(self, request: Request, prompt: str) -> Response:
        """Read a saved prompt."""
        return Response(present_saved_prompt(_get_own_prompt(request, prompt)))

    @documented("prompts_update", body=patched(SavedPromptBody), answer=SavedPromptAnswer)
    def patch(self, request: Request, prompt: str) -> Response:
        """Update a saved prompt; omitted fields stay as they are."""
        found = _get_own_prompt(request, prompt)
        if not found.change(**self.parse(patched(SavedPromptBody)).members()):
            raise ApiError("prompt_not_found")
        return Response(present_saved_prompt(found))

    @documented("prompts_delete", statuses=(204,))
    def delete(self, request: Request, prompt: str) -> Response:
        """Delete a saved prompt."""
        _get_own_prompt(request, prompt).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


def present_saved_prompt(prompt: SavedPrompt) -> JSONObject:
    return SavedPromptAnswer.from_row(prompt).json()


def _get_own_prompt(request: Request, pk: str) -> SavedPrompt:
    return get_own_row(SavedPrompt.objects.visible_to(current_user(request)), pk, "prompt")


urlpatterns = [
    path("prompts/", SavedPromptsView.as_view()),
    path("prompts/<id:prompt>/", SavedPromptView.as_view()),
]
