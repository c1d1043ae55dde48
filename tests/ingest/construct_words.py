"""Words that occur once in a file, so that their order in the extracted text can be compared with the file's."""

import random
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from typing import Final, NamedTuple

_ONSETS: Final = "b d f fl g k l m n p r s sch st t w z".split()  # noqa: SIM905
_VOWELS: Final = "a e i o u ä ö ü ei au".split()  # noqa: SIM905
_CODAS: Final = ("", "", "n", "r", "ff", "fi", "ß", "tz")
# Letters of words from right to left, by the mark of their places. Final forms and marks of vowels are not among them.
_RTL: Final = {"a": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي", "h": "אבגדהוזחטילמנסעפצקרשת"}
_PLACE: Final = re.compile(r"\{([~|ah]?)(\d+)\}")
_WORD: Final = re.compile(r"[^\W\d_]+")
SOFT_HYPHEN: Final = "\xad"


class Words:
    """A generator of the words of one file.
    It records them in the order in which they were requested: the reading order.
    """

    def __init__(self, seed: str) -> None:
        self._chance = random.Random(seed)
        self._used: set[str] = set()
        self._script = ""  # the letters of the next words; empty: Latin syllables
        self.order: list[str] = []

    def __call__(self, number: int) -> str:
        """Return new words as text, with a comma after every ninth."""
        words = [self._new() + ("," if place % 9 == 8 else "") for place in range(number)]
        return " ".join(words).removesuffix(",")

    def say(self, text: str) -> str:
        """Record words of the format, such as `Subject`, which a reader should find too; return the text."""
        self.order += split(text)
        return text

    def fill(self, template: str) -> str:
        """Replace {12} by twelve words, {~12} by twelve with soft hyphens, {|12} by twelve of which a part is bold,
        {a12} and {h12} by Arabic and Hebrew ones."""
        return _PLACE.sub(self._filled, template)

    def _filled(self, place: re.Match[str]) -> str:
        self._script = _RTL.get(place[1], "")
        text = self(int(place[2]))
        if place[1] == "~":
            return re.sub(r"(\w\w\w)(?=\w\w\w)", rf"\1{SOFT_HYPHEN}", text)
        if place[1] == "|":
            return re.sub(r"(\w\w)(\w+)", r"\1<b>\2</b>", text)
        return text

    def _new(self) -> str:
        while True:
            pick = self._chance.choice
            syllables = range(pick((2, 3, 3, 4)))
            if self._script:
                word = "".join(pick(self._script) + pick(self._script) for _ in syllables)
            else:
                word = "".join(pick(_ONSETS) + pick(_VOWELS) + pick(_CODAS) for _ in syllables)
            word = word.capitalize() if pick((True, False, False)) else word
            if word.casefold() not in self._used:
                self._used.add(word.casefold())
                self.order += split(word)
                return word


class Quality(NamedTuple):
    """The quality of an extracted text. words: words of the file. found: how many of these were extracted.
    in_order: the most of the found words that are in the file's order. added: words that the file does not contain, or
    not as often.
    """

    words: int
    found: int
    in_order: int
    added: int


def split(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(unicodedata.normalize("NFC", text))]


def compare(expected: list[str], text: str) -> Quality:
    extracted = split(text)
    wanted, got = Counter(expected), Counter(extracted)
    place = {word: number for number, word in enumerate(expected)}
    places = [place[word] for word in dict.fromkeys(extracted) if word in place]
    return Quality(len(expected), (wanted & got).total(), _longest_increasing(places), (got - wanted).total())


def _longest_increasing(numbers: list[int]) -> int:
    ends: list[int] = []
    for number in numbers:
        at = bisect_left(ends, number)
        ends[at : at + 1] = [number]
    return len(ends)
