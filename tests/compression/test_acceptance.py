"""A text that says nothing of what it would replace is no summary; two sentences that name what was said are one."""
# ruff: noqa: RUF001  Chinese and Japanese punctuation

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.transcript.tokens import count_tokens
from compression.acceptance import smallest_summary, why_refused

pytestmark = pytest.mark.pure

FILLER = (
    " The rest of it was said at length, with one example after the other, as people do when they plan." * 8
)
ENGLISH = [
    "We want to go to Lisbon in May with 14 people. Which hotel near Rossio has rooms, and what does Marta need from us?" + FILLER,
    "Hotel Miramar has 9 rooms from 12 May on, at 84 euros each. Marta needs the contract AB-77 signed." + FILLER,
    "Then book it. The file is `booking_list.csv`, and Kilian pays the deposit of 1,250 euros." + FILLER,
    "I noted it: Miramar, 12 to 16 May, deposit by Kilian Zimtstern, contract AB-77." + FILLER,
]  # fmt: skip
GERMAN = [
    "Wir brauchen bis 14. März ein Angebot für 38 Fahrräder, Rahmen aus Stahl, für die Stadtwerke Lüneburg."
    + FILLER,
    "Der Hersteller Velora liefert 38 Stück zu 612 Euro, die Lieferzeit beträgt sechs Wochen." + FILLER,
    "Frau Brandhoff möchte Nabenschaltung, keine Kettenschaltung. Das Budget liegt bei 25.000 Euro." + FILLER,
]
CHINESE = [
    "我们五月要去里斯本，一共十四个人。罗西乌附近哪家酒店有房间？玛尔塔需要什么文件？请在十二日之前告诉我。"
    * 4,
    "米拉马尔酒店从五月十二日起有九个房间，每间八十四欧元。玛尔塔需要签好的合同和押金一千二百五十欧元。" * 4,
]
SUMMARIES = [
    (ENGLISH, "The user plans a trip to Lisbon for 14 people. They decided for Hotel Miramar; Kilian pays the deposit."),
    (ENGLISH, "- 9 rooms, Miramar, 12-16 May\n- contract AB-77 goes to Marta, the deposit is paid by Kilian"),
    (ENGLISH, "Es ging um eine Reise nach Lisbon im May; gebucht wurde Miramar, den Vertrag AB-77 braucht Marta."),
    (GERMAN, "Gesucht wurde ein Angebot für 38 Räder für Lüneburg. Velora liefert zu 612 Euro, Frau Brandhoff will eine Nabenschaltung."),
    (CHINESE, "用户计划五月十四人去里斯本，决定住米拉马尔酒店，玛尔塔需要合同，押金一千二百五十欧元。"),
]  # fmt: skip
EMPTY = [
    "ok", "Bananas.", "Done.", "…", "Summary: none", "I cannot help with that.", "I can\u2019t help with that, sorry about this request of yours.",
    "I'm sorry, but I can't help with that request.", "As an AI language model, I cannot summarise this conversation for you today.",
    "Es tut mir leid, aber dabei kann ich nicht helfen, so gern ich es täte.", "Ich kann diese Anfrage nicht bearbeiten, da sie gegen die Richtlinien verstößt.",
    "Je suis désolé, je ne peux pas vous aider avec cette demande aujourd'hui.", "Lo siento, pero no puedo ayudar con eso en este momento.",
    "抱歉，我无法帮助您完成这个请求，请稍后再试。", "申し訳ありませんが、このリクエストにはお応えできません。",
    "There is nothing to summarise here, because the part before it does not contain any information that matters.",
    "Hello! How can I help you today? Please tell me what you would like to know about it.",
    "The user and the assistant had a helpful talk about a number of things, and all of it was resolved.",
]  # fmt: skip


def refused(text, source, replaced_tokens=None):
    tokens = replaced_tokens or sum(map(count_tokens, source))
    return why_refused(text, source, tokens, count_tokens(text))


@pytest.mark.parametrize(("source", "text"), SUMMARIES)
def test_two_sentences_that_name_what_was_said_are_a_summary(source, text):
    assert refused(text, source) == ""


@pytest.mark.parametrize("source", [ENGLISH, GERMAN, CHINESE], ids=["English", "German", "Chinese"])
@pytest.mark.parametrize("text", EMPTY)
def test_a_text_that_says_nothing_of_its_source_is_refused(text, source):
    assert refused(text, source) in ("refusal", "too_short", "unrelated")


@pytest.mark.parametrize(
    "text",
    [
        "As a large retailer, Zimt wants to move to Lisbon with 14 people; Marta needs contract AB-77.",
        "As an AI researcher, Marta compares rooms of Hotel Miramar in Lisbon for 14 people.",
        "En tant que responsable, Marta demande le contrat AB-77 pour Lisbon, et Kilian paie.",
        "Als KI-Beauftragte will Marta im May nach Lisbon, Kilian zahlt den Betrag für Miramar.",
        "作为AI工程师,用户希望去Lisbon,住Miramar,合同是AB-77,由Kilian付款。",
    ],
)
def test_a_summary_may_begin_as_refusals_do(text):
    assert refused(text, ENGLISH) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Marta wants a room in Lisbon for 14 people. It was booked.",
        "Marta will bis May ein Zimmer. Es wurde gebucht.",
    ],
)
def test_two_short_sentences_are_enough_for_a_very_long_history(text):
    assert refused(text, ENGLISH, replaced_tokens=30_000) == ""


def test_a_table_of_numbers_need_not_be_repeated():
    rows = "\n".join(f"{number * 7919 % 100_003} {number * 104_729 % 99_991}" for number in range(1500))
    source = [f"What is the sum of each column?\n{rows}", "The sums are 74,511,020 and 76,002,118."]
    text = "The user pasted a table with two columns of prices and asked for the sum of each. The assistant computed both sums."
    assert refused(text, source) == ""


def test_a_refusal_that_was_talked_about_is_no_refusal():
    assert (
        refused(
            "The user asked Marta for rooms in Lisbon. She said: I cannot help with that before May.", ENGLISH
        )
        == ""
    )


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_the_floor_grows_with_what_is_replaced_and_is_never_more_than_two_sentences(one, other):
    low, high = sorted((one, other))
    assert 1 <= smallest_summary(low) <= smallest_summary(high) <= 40
    assert smallest_summary(2048) == 10


@given(st.lists(st.text(max_size=200), max_size=5), st.text(max_size=300), st.integers(0, 10**6))
def test_any_text_is_judged(source, text, tokens):
    assert why_refused(text, source, tokens, count_tokens(text)) in ("", "refusal", "too_short", "unrelated")
