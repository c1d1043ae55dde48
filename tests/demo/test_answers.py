"""What the demo model answers, without its server."""

import re

import pytest
from django.utils import translation

from demo.answers import build_answer, quote_question
from demo.scenes import find_scene
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


def test_each_suggestion_of_the_empty_page_is_recognised_in_each_language() -> None:
    template = (ROOT / "web/templates/web/page.html").read_text(encoding="utf-8")
    suggested = re.findall(r'data-suggestion>{% translate "([^"]+)" %}', template)
    assert len(suggested) == 4
    for language in ("en", "de", "es", "fr", "zh-hans"):
        with translation.override(language):
            scenes = [find_scene(translation.gettext(text)) for text in suggested]
        assert None not in scenes
        assert len(set(scenes)) == 4, language
