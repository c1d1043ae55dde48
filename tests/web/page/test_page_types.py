"""The page's types are those of what the server sends and accepts."""

import pytest

from tests.page_types import TARGET, render

pytestmark = pytest.mark.documents


def test_the_types_of_the_page_are_those_of_the_server() -> None:
    assert TARGET.read_text(encoding="utf-8") == render() + "\n", "run make types"
