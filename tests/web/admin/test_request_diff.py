"""A request is compared with the one before it: whole messages, and the lines of those that changed."""

import pytest

from web.admin.model_requests import SentMessage, compare_lines, compare_requests

pytestmark = pytest.mark.pure
# Of each message: what it is, and its text.
Messages = list[tuple[str, str]]


def request(*messages: tuple[str, str]) -> list[SentMessage]:
    return [SentMessage(number, "", noun, None, text, "") for number, (noun, text) in enumerate(messages, 1)]


SYSTEM, QUESTION, ANSWER = ("system prompt", "Be brief."), ("question", "Why?"), ("answer", "So.")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param([SYSTEM, QUESTION], [SYSTEM, QUESTION], [("same", 2)], id="the same"),
        pytest.param(
            [SYSTEM, QUESTION], [SYSTEM, QUESTION, ANSWER], [("same", 2), ("added", 1)], id="one more"
        ),
        pytest.param(
            [SYSTEM, QUESTION, ANSWER],
            [SYSTEM, ANSWER],
            [("same", 1), ("removed", 1), ("same", 1)],
            id="one less",
        ),
        pytest.param(
            [SYSTEM, QUESTION],
            [("system prompt", "Be long."), QUESTION],
            [("changed", 1), ("same", 1)],
            id="another text",
        ),
        pytest.param(
            [SYSTEM, QUESTION],
            [SYSTEM, ANSWER],
            [("same", 1), ("removed", 1), ("added", 1)],
            id="another kind in its place",
        ),
    ],
)
def test_messages_are_compared(before: Messages, after: Messages, expected: list[tuple[str, int]]) -> None:
    sections = compare_requests(request(*before), request(*after))
    assert [(one.kind, len(one.messages)) for one in sections] == expected


def test_unchanged_lines_far_from_a_change_are_folded() -> None:
    lines = [f"line {number}" for number in range(20)]
    changed = [*lines[:10], "new", *lines[11:]]
    hunks = compare_lines("\n".join(lines), "\n".join(changed))
    assert [(one.kind, len(one.lines), one.is_folded) for one in hunks] == [
        ("same", 8, True), ("same", 2, False), ("removed", 1, False), ("added", 1, False),
        ("same", 2, False), ("same", 7, True),
    ]  # fmt: skip
    assert "\n".join(one.text for one in hunks if one.kind != "removed") == "\n".join(changed)


def test_very_long_messages_are_not_compared_by_lines() -> None:
    text = "\n".join(["a"] * 5_000)
    assert [one.kind for one in compare_lines(text, f"{text}\nb")] == ["removed", "added"]
