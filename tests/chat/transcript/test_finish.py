"""What the reasons that servers give for an end mean, and what readers are told."""

import pytest

from chat.transcript.finish import RUN_LIMITS, Finish, finish_reason

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"stop"}, "stop"),
        ({"length"}, "length"),
        ({"content_filter"}, "content_filter"),
        ({"tool_calls"}, "tool_calls"),
        ({"MAX_TOKENS"}, "length"),
        ({"model_length"}, "length"),
        ({"mumbled"}, "mumbled"),
        ({"eos"}, "stop"),
        ({"EOS_TOKEN"}, "stop"),
        ({"end_turn"}, "stop"),
        ({"stop_sequence"}, "stop"),
        ({"COMPLETE"}, "stop"),
        ({"end"}, "stop"),
        ({"STOP"}, "stop"),
        ({"max_output_tokens"}, "length"),
        ({"model_context_window_exceeded"}, "length"),
        ({"SAFETY"}, "content_filter"),
        ({"RECITATION"}, "content_filter"),
        ({"PROHIBITED_CONTENT"}, "content_filter"),
        ({"sensitive"}, "content_filter"),
        ({"stop", ""}, "stop"),
        ({"x" * 99}, "x" * 40),
        ({"paused\0"}, "paused\ufffd"),
        ({"\ud83d"}, "\ufffd"),
        (set(), ""),
        ({"stop", "length"}, "length"),
        ({"refusal", "content_filter"}, "refusal"),
    ],
)
def test_the_reason_has_one_name_and_the_weightiest_counts(given: set[str], reason: str) -> None:
    assert finish_reason(given) == reason


def test_only_an_incomplete_answer_has_a_sentence() -> None:
    told = {reason: Finish(reason, tokens).sentence for reason, tokens in [("length", 4096), ("stop", None),
            ("content_filter", None), ("tool_calls", None), ("mumbled", None), ("", None)]}  # fmt: skip
    assert {reason for reason, sentence in told.items() if sentence} == {"length", "content_filter"}
    assert told["length"] == "Stopped at 4,096 tokens."
    assert told["content_filter"] == "Cut by the provider's filter."
    assert Finish("length", 1).sentence == "Stopped at 1 token."
    assert Finish("length").sentence == "Stopped at the output limit."


@pytest.mark.parametrize("reason", RUN_LIMITS)
def test_a_limit_of_ours_has_words_and_no_server_can_name_it(reason: str) -> None:
    assert Finish(reason).cut_reason == reason
    assert Finish(reason).sentence.startswith("Stopped: ")
    assert not Finish(reason).is_cut_at_limit
    assert finish_reason({reason}) == "length"
