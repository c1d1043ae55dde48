"""Views of the tags of the user's sessions. Tags are set with the sessions (sessions.py)."""

from typing import Annotated, Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models.sql.tags import UsedTag
from chat.protocol.answer import Answer
from chat.protocol.errors import ApiError
from chat.protocol.member_types import doc
from chat.sessions.tags import MAX_CHARACTERS, MAX_TAGS, clean, delete_tag, list_tags, rename_tag
from web.rest.api_view import StrictAPIView, current_user
from web.rest.fields import MESSAGES, DescribedField, StrictCharField, StrictSerializer, VisibleCharField
from web.rest.openapi import TEXT, documented, query


class TagField(VisibleCharField):
    """One tag. Surrounding and repeated spaces are removed."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_CHARACTERS, **kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        text = super().run_validation(data)
        if not clean([text]):
            self.fail("invalid_value")
        return text


class TagsField(serializers.ListField, DescribedField):
    """The tags of a session. A repeated tag, regardless of case, counts once."""

    default_error_messages = MESSAGES
    child = TagField()

    def to_internal_value(self, data: Any) -> list[str]:
        if isinstance(data, list) and len(data) > MAX_TAGS:
            self.fail("invalid_value")
        return clean(super().to_internal_value(data))

    def json_schema(self) -> dict[str, Any]:
        item = {"type": "string", "maxLength": MAX_CHARACTERS, **TagField().json_schema()}
        return {"items": item, "maxItems": MAX_TAGS}


class TagAnswer(Answer):
    name: str
    sessions: Annotated[int, doc("How many have it, those in the trash left out.")]


class TagBody(StrictSerializer):
    never_partial = True
    tag = StrictCharField(max_length=MAX_CHARACTERS, help_text="Its name now, however it is capitalised.")
    name = TagField()


class TagsView(StrictAPIView):
    @documented("tags_list", answer=list[TagAnswer])
    def get(self, request: Request) -> Response:
        """List the tags of the user's sessions, in alphabetical order."""
        return Response([_present_tag(tag) for tag in list_tags(current_user(request))])

    @documented("tags_rename", body=TagBody, answer=TagAnswer)
    def patch(self, request: Request) -> Response:
        """Rename a tag in all sessions of the user. If `name` is another tag, both become one."""
        body = self.body(TagBody)
        return Response(_present_tag(rename_tag(current_user(request), body["tag"], body["name"])))

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
