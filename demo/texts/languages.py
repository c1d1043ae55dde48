"""Chooses the language of an answer: that of the question, as far as its words tell. Pure."""

import re
from typing import Final

from demo.texts.answer_texts import AnswerTexts
from demo.texts.chinese import CHINESE
from demo.texts.english import ENGLISH
from demo.texts.french import FRENCH
from demo.texts.german import GERMAN
from demo.texts.spanish import SPANISH

ALL: Final = (ENGLISH, GERMAN, SPANISH, FRENCH, CHINESE)
_WORD: Final = re.compile(r"[^\W\d_]+")
_IDEOGRAPH: Final = re.compile(r"[\u4e00-\u9fff]")
# Japanese is written with ideographs, too.
_KANA: Final = re.compile(r"[\u3040-\u30ff]")


def texts_for(question: str) -> AnswerTexts:
    """Return the texts of the language with most of its words in the question; English if there are none."""
    if _IDEOGRAPH.search(question) and not _KANA.search(question):
        return CHINESE
    words = _WORD.findall(question.casefold())
    # Of several with as many, the first: English.
    return max(ALL, key=lambda texts: sum(word in texts.words for word in words))
