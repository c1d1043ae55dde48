"""The routes of the tags of the user's sessions. Tags are set with the sessions (web/rest/sessions.py)."""

from typing import Annotated, Any

from django.urls import path
from msgspec import Meta
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models.sql.sessions import UsedTag
from chat.protocol.answer import Answer, doc
from chat.protocol.body import Body
from chat.protocol.errors import ApiError
from chat.sessions.settings import MAX_CHARACTERS, Tag, list_tags
from features.tags.tags import delete_tag, rename_tag
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import TEXT, documented, query


class TagAnswer(Answer):
    name: str
    sessions: Annotated[int, doc("How many have it, those in the trash left out.")]


class TagBody(Body):
    tag: Annotated[str, Meta(max_length=MAX_CHARACTERS), doc("Its name now, however it is capitalised.")]
    name: Tag


class TagsView(StrictAPIView):
    @documented("tags_list", answer=list[TagAnswer])
    def get(self, request: Request) -> Response:
        """List the tags of the user's sessions, in alphabetical order."""
        return Response([_present_tag(tag) for tag in list_tags(current_user(request))])

    @documented("tags_rename", body=TagBody, answer=TagAnswer)
    def patch(self, request: Request) -> Response:
        """Rename a tag in all sessions of the user. If `name` is another tag, both become one."""
        body = self.parse(TagBody)
        return Response(_present_tag(rename_tag(current_user(request), body.tag, body.name)))

    @documented(
        "tags_delete",
        statuses=(204,),
        parameters=[query("tag", TEXT, "Its name, however it is capitalised.", required=True)],
    )
    def delete(self, request: Request) -> Response:
        """Remove the tag `tag` from all sessions of the user; the sessions stay."""
        if "tag" not in request.query_params:
            raise ApiError("field_required", field="tag")
        delete_tag(current_user(request), request.query_params["tag"])
        return Response(status=status.HTTP_204_NO_CONTENT)


def _present_tag(tag: UsedTag) -> dict[str, Any]:
    return TagAnswer.from_row(tag).json()


urlpatterns = [path("tags/", TagsView.as_view())]
