"""Allowance: what the loops of a run may still use, at its boundaries."""

import pytest

from chat.transcript.usage import RunLimits, RunSpending, TokenUsage
from llm_worker.loop.allowance import Allowance, TokenNeed, UsedUp

pytestmark = pytest.mark.pure

ENOUGH = 10**9
USED = TokenUsage(100, 20)
NEED = TokenNeed(prompt=100, output=50, max_output=None, window=1000)


def limits(**given):
    return RunLimits(**{**dict.fromkeys(RunLimits._fields, ENOUGH), **given})


def run_one(share, need=NEED, usage=USED):
    most = share.begin(need)
    share.end(usage.completed(need.prompt, lambda: 7))
    return most


def test_a_loop_has_its_inferences_and_is_told_which_is_the_last():
    allowance = Allowance(limits(inferences=3))
    share = allowance.open_loop(is_outermost=True)
    told = []
    for _ in range(3):
        told.append(share.has_one_inference)
        run_one(share)
    assert told == [False, False, True]
    assert allowance.spent.inferences == 3


def test_loops_side_by_side_leave_each_other_the_inference_for_the_report():
    allowance = Allowance(limits(inferences=6))
    outer = allowance.open_loop(is_outermost=True)
    run_one(outer)
    inner = [allowance.open_loop(is_outermost=False) for _ in range(4)]
    with pytest.raises(UsedUp, match="at most 6 steps"):
        allowance.open_loop(is_outermost=False)
    for share in inner:
        assert share.has_one_inference
        run_one(share)
        share.close()
    assert outer.has_one_inference
    run_one(outer)
    assert allowance.spent.inferences == 6


def test_a_loop_that_ends_early_leaves_its_inference_to_the_others():
    allowance = Allowance(limits(inferences=3))
    outer = allowance.open_loop(is_outermost=True)
    run_one(outer)
    inner = allowance.open_loop(is_outermost=False)
    assert outer.has_one_inference
    inner.close()
    assert not outer.has_one_inference


def test_the_answer_has_its_inference_even_after_a_limit_was_lowered():
    allowance = Allowance(limits(inferences=3), RunSpending(inferences=9))
    share = allowance.open_loop(is_outermost=True)
    assert share.has_one_inference
    run_one(share)
    assert allowance.spent.inferences == 10


def test_calls_and_searches_are_counted_up_to_the_limit_and_refused_calls_are_not():
    allowance = Allowance(limits(tool_calls=3, searches=12))
    assert [allowance.take_call(5), allowance.take_call(5)] == [None, None]
    assert allowance.take_call(5) == "Not run: one answer may make at most 12 searches, of which 2 are left."
    assert allowance.take_call(2) is None
    assert (
        allowance.take_call(0) == "Not run: one answer may make at most 3 tool calls, and they are used up."
    )
    assert allowance.spent == RunSpending(tool_calls=3, searches=12)


@pytest.mark.parametrize(("left", "words"), [(1, "1 is left"), (0, "none is left")])
def test_the_model_reads_how_many_searches_are_left(left, words):
    refusal = Allowance(limits(searches=4), RunSpending(searches=4 - left)).take_call(2)
    assert refusal is not None
    assert words in refusal


@pytest.mark.parametrize(("tokens", "is_one"), [(400, False), (399, True)])
def test_the_last_inference_is_the_one_after_which_the_tokens_do_not_suffice(tokens, is_one):
    share = Allowance(limits(tokens=tokens)).open_loop(is_outermost=True)
    assert share.has_tokens_for_one(NEED) is is_one


@pytest.mark.parametrize(
    ("tokens", "max_output", "most"),
    [(1000, None, None), (999, None, 899), (300, 200, None), (299, 200, 199), (101, None, 1)],
)
def test_the_output_is_limited_to_the_tokens_that_are_left(tokens, max_output, most):
    share = Allowance(limits(tokens=tokens)).open_loop(is_outermost=True)
    assert share.begin(NEED._replace(max_output=max_output)) == most


def test_without_tokens_for_the_prompt_nothing_is_asked():
    allowance = Allowance(limits(tokens=100))
    share = allowance.open_loop(is_outermost=True)
    with pytest.raises(UsedUp):
        share.begin(NEED)
    assert allowance.spent == RunSpending()


def test_inner_loops_leave_the_tokens_for_the_answer():
    allowance = Allowance(limits(tokens=520))
    outer = allowance.open_loop(is_outermost=True)
    run_one(outer)  # 400 left, of which the next inference needs 250
    inner = allowance.open_loop(is_outermost=False)
    assert inner.begin(NEED) == 50
    with pytest.raises(UsedUp):
        allowance.open_loop(is_outermost=False).begin(NEED)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [(TokenUsage(90, 30), 120), (TokenUsage(), 107), (TokenUsage(90), 97), (TokenUsage(None, 30), 130)],
)
def test_tokens_that_the_server_does_not_report_are_estimated(usage, counted):
    allowance = Allowance(limits())
    run_one(allowance.open_loop(is_outermost=True), usage=usage)
    assert allowance.spent.tokens == counted
