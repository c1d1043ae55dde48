"""JSON from clients is decoded strictly, and what would take too much memory is refused before it is decoded."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.protocol.errors import ApiError
from chat.protocol.strict_json import decode
from tests.examples import examples

pytestmark = pytest.mark.pure
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
VALUES = st.recursive(
    TEXT | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def count(value: Any) -> int:
    """All values at every level; an empty object or array as two."""
    if not isinstance(value, dict | list):
        return 1
    inside = list(value.values() if isinstance(value, dict) else value)
    return 1 + (sum(map(count, inside)) if inside else 1)


@given(st.dictionaries(TEXT, VALUES, max_size=4))
@settings(max_examples=examples(200))
def test_exactly_the_bodies_of_too_many_values_are_refused(body: dict[str, Any]) -> None:
    text = json.dumps(body)
    assert decode(text, max_values=count(body)) == body
    if len(text) >= count(body) > 1:
        with pytest.raises(ApiError) as refused:
            decode(text, max_values=count(body) - 1)
        assert refused.value.code == "body_too_large"


@pytest.mark.slow
@pytest.mark.parametrize(
    "body", ['{"a": "' + '\\"' * 400_000, '"' * 400_001, '{"a": "' + "\\" * 400_001, "[" * 400_000]
)
def test_hostile_bodies_are_refused_and_not_read_over_and_over(body: str) -> None:
    with pytest.raises(ApiError):
        decode(body, max_values=100)
