"""How many tokens a text has."""

import pytest

from chat.transcript.tokens import LONG_CHARACTERS, count_tokens, load_encoding

pytestmark = pytest.mark.pure


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * (LONG_CHARACTERS + 1), id="one word without end"),
        pytest.param("One word, and then another. " * 10_000, id="sentences"),
        pytest.param("日本語のテキスト。" * 20_000, id="without spaces"),
        pytest.param("0123456789abcdef\n" * 10_000, id="lines"),
    ],
)
def test_a_very_long_text_is_counted_to_one_in_a_thousand(text: str) -> None:
    exactly = len(load_encoding("cl100k_base").encode_ordinary(text))
    assert count_tokens(text) == pytest.approx(exactly, rel=0.001)


@pytest.mark.slow
def test_any_other_text_is_counted_exactly() -> None:
    text = "Well — 12 tides, 3 moons. " * (LONG_CHARACTERS // 27)
    exactly = len(load_encoding("cl100k_base").encode_ordinary(text))
    assert count_tokens(text) == exactly
