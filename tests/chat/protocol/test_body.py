"""An error about a body says which member it is about, and what was expected and sent."""

from typing import Annotated, Any
from uuid import UUID

import pytest
from msgspec import UNSET, Meta, UnsetType

from chat.protocol.answer import choice
from chat.protocol.body import Body, patched
from chat.protocol.errors import ApiError

pytestmark = pytest.mark.pure


class Berth(Body):
    length: Annotated[int, Meta(ge=1, le=40)]


class Harbour(Body):
    name: Annotated[str, Meta(max_length=5)]
    id: UUID | UnsetType = UNSET
    tide: Annotated[str, choice(["ebb", "flood"])] = "ebb"
    berths: Annotated[list[Berth], Meta(max_length=2)] = []
    depths: dict[str, float] = {}
    closed: bool | UnsetType | None = UNSET


@pytest.mark.parametrize(
    ("body", "code", "field", "message"),
    [
        ([], "invalid_type", None, "Expected an object, got an array."),
        ({"name": "a", "nam": 1}, "unknown_field", "nam", "There is no such field."),
        ({}, "field_required", "name", "The field is required."),
        ({"name": None}, "invalid_type", "name", "Expected a string, got null."),
        ({"name": "abcdef"}, "invalid_value", "name", "At most 5 characters, not 6."),
        ({"name": "a", "id": "0" * 32}, "invalid_id", "id", "This is not an id."),
        ({"name": "a", "tide": "spring"}, "invalid_value", "tide", "One of ebb, flood; not spring."),
        ({"name": "a", "berths": [{"length": 1}, {"length": 41}]}, "invalid_value", "berths.1.length", "At most 40, not 41."),
        ({"name": "a", "berths": [{"length": True}]}, "invalid_type", "berths.0.length", "Expected a number, got a boolean."),
        ({"name": "a", "berths": [{"length": 1}] * 3}, "invalid_value", "berths", "At most 2 values, not 3."),
        ({"name": "a", "depths": {"quay": "deep"}}, "invalid_type", "depths.quay", "Expected a number, got a string."),
        ({"tide": "spring", "name": 1}, "invalid_type", "name", "Expected a string, got a number."),
    ],
)  # fmt: skip
def test_the_first_invalid_member_is_named(body: Any, code: str, field: str | None, message: str) -> None:
    with pytest.raises(ApiError) as caught:
        Harbour.parse(body)
    assert (caught.value.code, caught.value.field, caught.value.message) == (code, field, message)


def test_a_valid_body_has_its_defaults_and_no_members_that_were_left_out() -> None:
    body = Harbour.parse({"name": "a", "berths": [{"length": 7.0}], "closed": None})
    assert body.berths == [Berth(length=7)]
    assert body.members().keys() == {"name", "tide", "berths", "depths", "closed"}


def test_a_patch_needs_no_member_sets_no_default_and_keeps_the_limits() -> None:
    assert patched(Harbour).parse({"closed": True}).members() == {"closed": True}
    with pytest.raises(ApiError):
        patched(Harbour).parse({"name": "abcdef"})
