"""The output check finds every echo of eight words or of a number, in whichever field and however it is typeset."""

import random
import string

import pytest

from llm_worker.side_requests.artifact import Artifact
from llm_worker.side_requests.echoes import EchoCheck
from tests.seeds import seed_of

pytestmark = pytest.mark.pure

TEXT = "The carrier's depot in Łódź lost the keys of seven blue vans before anybody noticed it on Monday."
EIGHT = "lost the keys of seven blue vans before"


@pytest.mark.parametrize(
    "echo",
    [
        EIGHT,
        EIGHT.upper(),
        f"It says: «{EIGHT}»!",
        "lost; the... keys — of (seven) *blue* vans, before",
        "lost-the-keys-of-seven-blue-vans-before",
        "losttheKeysofsevenbluevansbefore",
        "l o s t t h e k e y s o f s e v e n b l u e v a n s b e f o r e",
        "lo\u00adst the ke\u200bys of se\u200dven blue vans before",
        "l\u00f3st the keys of s\u00e9ven blue vans before",
        "\uff4cost the keys of seven blue vans before",
        "DEPOT IN ŁODZ LOST THE KEYS OF SEVEN",
    ],
)
def test_eight_words_in_a_row_are_an_echo_however_they_are_typeset(echo):
    assert EchoCheck([TEXT]).finds([echo])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "lost the keys of seven blue vans",
        "lost the keys of seven green vans before anybody noticed it",
        "before vans blue seven of keys the lost",
        "The depot lost vehicle keys, and nobody noticed for a while.",
    ],
)
def test_fewer_words_and_other_words_are_none(text):
    assert not EchoCheck([TEXT]).finds([text])


def test_an_echo_that_is_spread_over_fields_or_chunks_is_found():
    assert EchoCheck([TEXT]).finds(["lost the keys of", "seven blue vans before"])
    assert EchoCheck(["lost the keys of", "seven blue vans before"]).finds([EIGHT])


@pytest.mark.parametrize(
    ("text", "echo"),
    [
        ("It cost 1,234 euros.", "1234"),
        ("It cost 1,234 euros.", "1.234"),
        ("It cost 1,234 euros.", "1 234"),
        ("It cost 1,234 euros.", "1\u202f234"),
        ("It cost 1,234 euros.", "1'234"),
        ("It cost 1234 euros.", "EUR1,234.-"),
        ("Part QX7731b", "7731"),
        ("7731 parts", "part qx7731"),
        ("It weighs 3.50 kg.", "3.5"),
        ("It weighs 3.5 kg.", "3,50"),
        ("Agent 007", "agent 7"),
        ("Agent 7", "agent 007"),
        ("Call +49 30 1234567.", "49301234567"),
        ("Call 49301234567.", "+49 (30) 123-45-67"),
        ("in ٢٠٢٤", "in 2024"),
        ("in 2024", "in \uff12\uff10\uff12\uff14"),
        ("x² = 64", "8² = 64"),
        ("a 5 % share", "five, or 5"),
        ("in 2024 300 people", "300"),
        ("2024-05-01", "20240501"),
    ],
)
def test_a_number_is_found_however_it_is_written(text, echo):
    assert EchoCheck([text]).finds([echo])


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("It cost 1,234 euros.", "It cost 4321 euros."),
        ("It cost 1234 euros.", "It cost 123 or 12345 euros."),
        ("No number.", "The year 2024."),
        ("In 2024.", "No number."),
    ],
)
def test_other_numbers_are_no_echo(text, other):
    assert not EchoCheck([text]).finds([other])


def test_scripts_without_spaces_are_compared_by_character():
    assert EchoCheck(["東京都は日本の首都であり"]).finds(["答え: 日本の首都であり。"])
    assert not EchoCheck(["東京都は日本の首都であり"]).finds(["日本の首都"])


@pytest.mark.parametrize(
    "artifact",
    [
        Artifact("answer", EIGHT),
        Artifact("answer", "", EIGHT),
        Artifact("answer", "", "", ("fine", EIGHT)),
        Artifact("answer", "", "", (), (EIGHT,)),
        Artifact("answer", "", "", (), (), (EIGHT,)),
        Artifact("answer", "", "", (), (), (), EIGHT),
    ],
)
def test_every_field_of_an_artifact_is_checked(artifact):
    assert EchoCheck([TEXT]).finds(artifact.texts)


@pytest.mark.slow
def test_of_a_thousand_random_texts_no_eight_words_and_no_number_pass():
    seed = seed_of("ECHO_SEED")
    print(f"ECHO_SEED={seed}")
    generator = random.Random(seed)
    for _ in range(1_000):
        text = _random_text(generator)
        check = EchoCheck([text])
        words = [word for word in text.split() if any(map(str.isalnum, word))]
        at = generator.randrange(len(words) - 8)
        echo = " ".join(_typeset(generator, word) for word in words[at : at + 8])
        assert check.finds([f"In short: {echo} and so on"]), (text, echo)
        number = generator.choice([word for word in words if any(map(str.isdigit, word))])
        assert check.finds(["None", f"about ({number}) of them"]), (text, number)
        assert not check.finds(["Deliveries of this kind are mostly late, say the excerpts."]), text


def _random_text(generator: random.Random) -> str:
    """Sixty words, of which some are numbers in several ways of writing, with punctuation at some of them."""
    return " ".join(_random_word(generator) for _ in range(60)) + " 17"


def _random_word(generator: random.Random) -> str:
    letters = string.ascii_letters + "äöüßéñжшיא"
    word = "".join(generator.choices(letters, k=generator.randint(1, 12)))
    number = generator.randrange(10 ** generator.randint(1, 9))
    kinds = [word] * 12 + [f"{number}", f"{number:,}", f"{number / 7:.3f}", f"{word}{number}"]
    return generator.choice(kinds) + generator.choice(["", "", "", ".", ",", "!", " -"])


def _typeset(generator: random.Random, word: str) -> str:
    changes = [
        str,
        str.upper,
        str.lower,
        lambda word: f"*{word}*",
        lambda word: f"{word},",
        lambda word: f"({word})",
    ]
    return generator.choice(changes)(word)
