"""Tests of what the scripted upstream refuses in its strict mode."""

import pytest

from tests.upstream_template import refusal

pytestmark = pytest.mark.pure

MESSAGES = {
    "s": {"role": "system", "content": "Be."},
    "u": {"role": "user", "content": "Why?"},
    "a": {"role": "assistant", "content": "So."},
    "e": {"role": "assistant", "content": ""},
    "c": {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
    "t": {"role": "tool", "tool_call_id": "c", "content": "1"},
}


@pytest.mark.parametrize(
    "accepted", ["s u", "u", "s u a u", "s u c t", "s u c t t c t", "s u c t a u", "u a"]
)
def test_alternating_roles_are_accepted(accepted):
    assert refusal([MESSAGES[each] for each in accepted.split()]) == ""


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        ("s u u", "must alternate"),
        ("s a u", "must alternate"),
        ("s c t u", "after role 'tool'"),
        ("s u a a u", "must alternate"),
        ("s u e u", "content or tool_calls"),
        ("u s u", "system role"),
        ("s u c t u", "after role 'tool'"),
        ("s u c t c t u a u", "after role 'tool'"),
        ("s c t a u", "must alternate"),
        ("s u t", "role 'tool'"),
        ("s", "must alternate"),
    ],
)
def test_other_orders_are_refused_with_a_reason(refused, reason):
    assert reason in refusal([MESSAGES[each] for each in refused.split()])
