"""Tests of the matching of requests to the rules of the scripted upstream."""

import pytest

from tests.upstream_steps import Rule, last_user_text, tool_responses

pytestmark = pytest.mark.pure

SENT_AT = "\n\n<sent_at>2026-11-21 14:05 UTC</sent_at>"
BEFORE = [
    {"role": "user", "content": f"Before?{SENT_AT}"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]},
    {"role": "tool", "tool_call_id": "a", "content": "gone"},
    {"role": "assistant", "content": "So."},
    {"role": "user", "content": [{"type": "text", "text": f"Now?{SENT_AT}"}, {"type": "image_url"}]},
]
ROUND = [
    {"role": "assistant", "content": None, "tool_calls": [{"id": "b"}, {"id": "c"}]},
    {"role": "tool", "tool_call_id": "b", "content": "1"},
    {"role": "tool", "tool_call_id": "c", "content": "2"},
]
REMINDER = [{"role": "user", "content": "Answer now."}]


@pytest.mark.parametrize(
    ("messages", "question", "responses"),
    [
        (BEFORE, f"Now?{SENT_AT}", 0),
        (BEFORE + ROUND, f"Now?{SENT_AT}", 2),
        (BEFORE + ROUND + REMINDER, f"Now?{SENT_AT}", 2),
        ([{"role": "user", "content": "Undated?"}, *ROUND], "Undated?", 2),
        ([{"role": "system", "content": "S"}], "", 0),
    ],
    ids=["first request", "after a round", "a reminder is no question", "no dates", "no question"],
)
def test_the_question_and_the_tools_that_have_answered_since(messages, question, responses):
    body = {"messages": messages, "stream": True}
    assert last_user_text(body) == question
    assert tool_responses(body) == responses
    assert [n for n in range(4) if Rule([], after_tools=n).takes(body)] == [responses]
    assert Rule([], contains=question).takes(body)
