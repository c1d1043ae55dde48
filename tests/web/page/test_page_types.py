"""The page's types of answers are those that are sent."""

import pytest

from tests.page_types import TARGET, render

pytestmark = pytest.mark.documents


def test_the_types_of_the_page_are_written_from_the_answers() -> None:
    assert TARGET.read_text(encoding="utf-8") == render() + "\n", "run make types"
