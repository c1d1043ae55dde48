"""Decides whether a text is a summary of what it would replace: it says enough, refuses nothing, and names what was said. Pure.

A summary replaces thousands of tokens of somebody's words: `ok`, "Bananas." and "I cannot help with that." must not.
"""

import math
import re
from collections.abc import Iterable, Iterator
from typing import Final

from compression.prompt import FINAL, INSTRUCTIONS
from knowledge.texts.searched_text import UNSPACED, is_unspaced

# Of sources with fewer words that are their own, a summary may happen to use none.
_FEWEST_OWN_WORDS: Final = 12
_MOST_NUMBERS: Final = 10
# A refusal is short; a longer text that begins like one says more.
_LONGEST_REFUSAL: Final = 500
_REFUSAL: Final = re.compile(
    r"""\W*(?:
      (?:i[\u2019']?m|i\ am|we[\u2019']?re)?\ ?(?:very\ |so\ |really\ )?(?:sorry|afraid)\b(?!-) | (?:i|we)\ apologi[sz]e\b
      | as\ an?\ (?:ai|(?:large\ )?language)\ (?:language\ )?model\b | as\ an\ ai(?:\ assistant)?,
      | (?:i|we)\ (?:can(?:no|[\u2019'])?t|can\ not|won[\u2019']?t|will\ not|am\ unable|am\ not\ able|do\ not|don[\u2019']?t|must\ decline)\b
      | (?:es\ )?tut\ mir\ leid\b | ich\ (?:kann|darf|bin)\b.{0,60}\b(?:nicht|keine|außerstande)\b | als\ (?:ki|sprachmodell)(?:-(?:modell|assistent))?\b(?!-)
      | (?:je\ suis\ )?(?:désolée?|navrée?)\b | je\ ne\ peux\b | en\ tant\ qu(?:e\ modèle|['\u2019]ia\b)
      | (?:lo\ siento|lo\ lamento|perdón)\b | no\ puedo\b | como\ (?:modelo\ de\ lenguaje|una\ ia|ia)\b
      | (?:mi\ dispiace|non\ posso|desculpe|sinto\ muito|não\ posso)\b
      | (?:извините|простите|я\ не\ могу)\b
      | (?:很)?(?:抱歉|对不起|對不起) | 我(?:无法|無法|不能) | 作为(?:一个)?(?:ai|人工智能)(?:助手|模型|语言模型|[\uff0c,]) | 申し訳 | すみません | 죄송 | عذرا | آسف
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_WORD: Final = re.compile(rf"[{UNSPACED}]+|[^\W{UNSPACED}]+(?:[-.'\u2019][^\W{UNSPACED}]+)*")
# The time behind each question is nobody's word.
_SENT_AT: Final = re.compile(r"<sent_at>[^<]*</sent_at>\Z")
_SENTENCE_ENDS: Final = re.compile(r"(?:\A|[.!?:;\n|>*#\"“(-])\s*\Z")


def why_refused(text: str, source: Iterable[str], replaced_tokens: int, tokens: int) -> str:
    """Return why a text is no summary of its source: refusal, too_short, unrelated; empty if it is one.

    source: the texts that it replaces.  replaced_tokens: their tokens.  tokens: those of the text.
    """
    if len(text) <= _LONGEST_REFUSAL and _REFUSAL.match(text):
        return "refusal"
    if tokens < smallest_summary(replaced_tokens):
        return "too_short"
    own = {word for message in source for word in _own_words(_SENT_AT.sub("", message))} - _OF_THE_REQUEST
    numbers = sum(word.replace(".", "").isdecimal() for word in own)
    # Of a long table of numbers, a summary names none.
    counted = len(own) - max(0, numbers - _MOST_NUMBERS)
    if counted < _FEWEST_OWN_WORDS:
        return ""
    # A summary names few of them: one of 12, two of 80, three of 800.
    needed = 1 + int(math.log10(counted / 8))
    return "" if len(own & {*_own_words(text), *_all_words(text)}) >= needed else "unrelated"


def smallest_summary(replaced_tokens: int) -> int:
    """Return the fewest tokens of a summary: 10 for 2,048 tokens and 1 more for each doubling; two short sentences have more."""
    return max(1, int(3 + math.log2(max(1, replaced_tokens) / 16)))


def _own_words(text: str) -> Iterator[str]:
    """Yield the beginnings of words that belong to this text rather than to the language: names, numbers, identifiers, long
    words; of scripts without spaces, pairs of characters.
    """
    for match in _WORD.finditer(text):
        word = match[0]
        if is_unspaced(word):
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        elif _is_own(word) or (
            word[0].isupper() and not _SENTENCE_ENDS.search(text[max(0, match.start() - 5) : match.start()])
        ):
            yield _stem(word)


def _is_own(word: str) -> bool:
    """Return whether a word is one of few texts wherever it stands."""
    has_case = word.lower() != word.upper()
    return (
        any(character.isdigit() or character == "_" for character in word)
        or (not word[1:].islower() and len(word) > 2 and has_case)
        or len(word) >= (8 if has_case else 4)
    )  # fmt: skip


def _all_words(text: str) -> Iterator[str]:
    return (_stem(word) for word in _WORD.findall(text))


def _stem(word: str) -> str:
    """Return the beginning of a word, which its inflections share; a number whole."""
    return word.casefold() if any(map(str.isdigit, word)) else word.casefold()[:6]


_OF_THE_REQUEST: Final = {*_all_words(INSTRUCTIONS), *_all_words(FINAL)}
