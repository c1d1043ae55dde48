"""What the demo model answers, without its server."""

import json
import re

import pytest
from django.utils import translation

from chat.transcript.entries import Document
from demo.answers import BRIEF_NAME, NAME, Offered, build_answer, find_document, find_scene, quote_question
from demo.texts.answer_texts import AnswerTexts
from demo.texts.chinese import CHINESE
from demo.texts.english import ENGLISH
from demo.texts.french import FRENCH
from demo.texts.german import GERMAN
from demo.texts.languages import ALL, texts_for
from demo.texts.spanish import SPANISH
from llm_worker.request.numbered_documents import render_found, render_provided
from tests import messages
from tests.instance import ROOT

pytestmark = pytest.mark.pure


def test_a_rate_is_kept() -> None:
    assert (len(build_answer("mock-50x20", "").pieces), build_answer("mock-50x20", "").pieces_per_s) == (
        50,
        20,
    )


def test_a_long_question_is_cut_before_it_is_escaped() -> None:
    assert quote_question("*" * 500) == r"\*" * 200 + "…"


def test_the_date_that_a_worker_adds_is_not_quoted() -> None:
    assert quote_question("Hello\n\n<sent_at>2026-01-01 00:00 UTC</sent_at>") == "Hello"


def test_files_without_a_text_are_not_quoted() -> None:
    alone = build_answer(NAME, "<sent_at>2026-01-01 00:00 UTC</sent_at>")
    assert "You wrote" in "".join(build_answer(NAME, "Hello").pieces)
    assert "You wrote" not in "".join(alone.pieces)


def test_each_suggestion_of_the_empty_page_is_recognised_and_answered_in_each_language() -> None:
    template = (ROOT / "web/templates/web/page.html").read_text(encoding="utf-8")
    suggested = re.findall(r'data-suggestion[^\n]*>{% translate "([^"]+)" %}', template)
    assert len(suggested) == 7
    by_language = dict(zip(("en", "de", "es", "fr", "zh-hans"), ALL, strict=True))
    for language, texts in by_language.items():
        with translation.override(language):
            asked = [translation.gettext(text) for text in suggested]
            scenes = [find_scene(question) for question in asked]
        assert {texts_for(question) for question in asked} == {texts}, language
        assert None not in scenes
        assert len(set(scenes)) == 7, language


def test_the_question_about_the_handbook_is_answered_from_it_and_cites_its_number() -> None:
    shown = render_provided([Document(7, "id", "lighthouse.md", "Fog")])
    number = find_document([{"role": "user", "content": shown}, {"role": "user", "content": "Fog?"}])
    assert number == 7
    assert "[7]" in build_answer(NAME, "What of fog?", Offered(document=number)).text
    assert "[7]" not in build_answer(NAME, "What of fog?").text


def test_the_answer_about_fog_says_what_the_handbook_of_the_page_says() -> None:
    handbook = " ".join((ROOT / "web/static/chat/composer/lighthouse.md").read_text(encoding="utf-8").split())
    cited = build_answer(NAME, "What of fog?", Offered(document=1)).text.replace("**", "")
    for fact in (
        "as soon as the outer beacon is out of sight, by day as by night",
        "five strokes each minute",
    ):
        assert fact in handbook
        assert fact in cited


def test_documents_of_a_chat_are_searched_and_the_sentence_that_fits_best_is_cited() -> None:
    question = "When is the lamp lit?\n\n<sent_at>2026-01-01 00:00 UTC</sent_at>"
    tools = ["current_time", "knowledge_base_search"]
    asked = build_answer(NAME, question, Offered(tools))
    assert (asked.tool, json.loads(asked.arguments)) == (
        "knowledge_base_search",
        {"query": "When is the lamp lit?"},
    )
    passages = [
        "Nothing is known of *it*.",
        "Oil is kept below. The lamp is lit at dusk [sic].\nThe horn is not.",
    ]
    result = render_found([Document(n, "id", "keeper.md", text) for n, text in enumerate(passages, 4)])
    told = build_answer(NAME, question, Offered(tools, result)).text
    assert "\n> The lamp is lit at dusk \\[sic\\]. [5]\n" in told
    assert "found nothing" in build_answer(NAME, question, Offered(tools, render_found([]))).text


@pytest.mark.parametrize(
    ("texts", "locale"), [(GERMAN, "de"), (SPANISH, "es"), (FRENCH, "fr"), (CHINESE, "zh_Hans")]
)
def test_what_an_answer_tells_people_to_look_for_is_called_so_on_the_page(
    texts: AnswerTexts, locale: str
) -> None:
    # Names of tools are texts of the server.
    catalogs = [messages.kept(domain, locale) for domain in ("djangojs", "django")]

    def on_page(text: str) -> str:
        message = next(filter(None, (catalog.get(text) for catalog in catalogs)), None)
        assert message is not None
        return f"**{str(message.string) % {'server': 'notes'}}**"

    time, all_tools = on_page("Date and time"), on_page("All tools of %(server)s")
    assert {one in texts.guide for one in (time, all_tools, on_page("Model providers"))} == {True}
    assert time in texts.without_tool
    assert all_tools in texts.without_notes


def test_each_language_has_the_same_parts() -> None:
    shapes = {
        tuple(sorted(re.findall(r"\{[a-z]+\}|\[#\]|`\w+`|\$\$.*\$\$", " ".join(map(str, texts[1:])))))
        for texts in ALL
    }
    assert len(shapes) == 1


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("Hello", ENGLISH),
        ("", ENGLISH),
        ("Привет", ENGLISH),
        ("Kannst du mir helfen?", GERMAN),
        ("¿Qué puedes hacer?", SPANISH),
        ("Bonjour, que peux-tu faire ?", FRENCH),
        ("你能做什么？", CHINESE),
        ("これは何ですか。漢字", ENGLISH),
    ],
)
def test_a_question_is_answered_in_its_language_if_that_is_one_of_the_page(
    question: str, texts: AnswerTexts
) -> None:
    assert texts_for(question) == texts
    assert build_answer(NAME, question).text.startswith(texts.guide.split(":")[0].split("：")[0])


def test_the_two_models_compare_in_their_own_way() -> None:
    question = "Compare tea and coffee"
    assert len(build_answer(BRIEF_NAME, question).text) < len(build_answer(NAME, question).text) / 3


def test_nobody_is_told_of_environment_variables() -> None:
    assert "LLM_" not in build_answer(NAME, "Hello").text
