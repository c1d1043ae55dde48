"""Token counts of requests: estimates, stored counts and the cache; nothing is downloaded."""

import pytest

from chat.transcript.tokens import OMITTED_RESPONSE_TOKENS, SENT_AT_TOKENS, count_tokens
from llm_worker.request import token_counters
from llm_worker.request.message_renderer import OMITTED_RESPONSE
from llm_worker.request.truncation import NOTE_TOKENS

pytestmark = pytest.mark.pure


def test_stored_counts_are_used():
    assert token_counters.estimate_tokens("some words", 7) == 7
    assert token_counters.estimate_tokens("some words", 0) == count_tokens("some words") == 2


@pytest.mark.parametrize("tokenizer", ["", "cl100k_base", "no such encoding"])
def test_default_and_missing_encodings_have_no_exact_counter(tokenizer):
    assert token_counters.exact_counter(tokenizer) is None


@pytest.mark.slow
def test_an_exact_count_ignores_the_stored_one():
    count = token_counters.exact_counter("o200k_base")
    assert count
    assert count("HTMLParserXMLHttpRequest ", 1) == count("HTMLParserXMLHttpRequest ", 0) == 6


def test_the_constant_of_the_date_suffix_is_its_token_count():
    assert count_tokens("\n\n<sent_at>2026-11-21 14:05 UTC</sent_at>") == SENT_AT_TOKENS


@pytest.mark.parametrize("text", ["<|endoftext|>", "\ud83d", "🌊" * 10, ""])
def test_any_text_can_be_counted(text):
    assert count_tokens(text) >= len(text) > 0 or text in ("", "<|endoftext|>")


def test_the_constants_of_fixed_texts_cover_their_token_counts():
    assert count_tokens(OMITTED_RESPONSE) == OMITTED_RESPONSE_TOKENS
    assert count_tokens("\n\n[… 1234567 tokens left out here …]\n\n") <= NOTE_TOKENS - 8


def test_the_cache_of_counts_is_bounded(monkeypatch):
    monkeypatch.setattr(token_counters, "_known", {})
    monkeypatch.setattr(token_counters, "MOST_KNOWN", 3)
    for text in ("a b", "c d e", "a b", "f", "g h", "i"):
        assert token_counters.estimate_tokens(text, 0) == count_tokens(text)
        assert len(token_counters._known) <= 3
