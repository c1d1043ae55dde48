"""The text around what was found in another spelling."""

import pytest

from chat.transcript.readable_text import excerpt_of

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("text", "words", "excerpt"),
    [
        ("Das Cafe\u0301 in Zu\u0308rich", ["zürich"], "Das Caf\u00e9 in Z\u00fcrich"),
        ("修改youer服务端的计划", ["youer"], "修改youer服务端的计划"),
        ("서울에서api를", ["api"], "서울에서api를"),
        ("nothing of it", ["office"], "nothing of it"),
        ("ﬁ " * 100 + "the o\ufb03ce\nis open " + "ﬁ " * 100, ["office"], "the o\ufb03ce is open"),
    ],
)
def test_the_words_stand_in_it_as_they_are_written(text: str, words: list[str], excerpt: str) -> None:
    found = excerpt_of(text, words)
    assert excerpt in found
    assert len(found) <= 160


def test_a_word_inside_another_is_not_what_was_found() -> None:
    text = "no\ufb03ce " * 100 + "o\ufb03ce at last"
    assert excerpt_of(text, ["office"]).endswith("o\ufb03ce at last")
