"""Telling languages apart by their most frequent words."""

import pytest

from knowledge.texts.searched_text import Language, detect_language

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The tide follows the moon, and it is low twice a day.", Language.ENGLISH),
        ("Die Gezeiten folgen dem Mond, und zweimal am Tag ist Ebbe.", Language.GERMAN),
        ("La marée suit la lune, et elle est basse deux fois par jour.", Language.OTHER),
        ("Größe: 12 m; E_4711", Language.OTHER),
        ("潮汐は月に従う。", Language.OTHER),
        ("", Language.OTHER),
        # Loans and names do not decide.
        (
            "La banda The Cure tocó en la ciudad durante una noche muy larga y lluviosa de aquel otoño.",
            Language.OTHER,
        ),
    ],
)
def test_a_language_is_recognised_or_left_open(text: str, language: Language) -> None:
    assert detect_language(text) == language
