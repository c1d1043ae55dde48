"""What readers are shown of a call while the model writes it."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_worker.stream.arguments import parse_partial_arguments
from llm_worker.stream.call_preview import CallPreviewer
from llm_worker.upstream.deltas import NO_INDEX, ToolCallDelta

pytestmark = pytest.mark.pure

NO = NO_INDEX


def shown(batches, watchable=("ask",)):
    """After each batch of deltas that came together: the call and the text of it that is news; "" for none."""
    numbers = count(1)
    calls = CallPreviewer(lambda: f"own_{next(numbers)}", watchable)
    told = []
    for batch in batches:
        for delta in batch:
            calls.feed(ToolCallDelta(*delta))
        piece = calls.next_fragment()
        assert calls.next_fragment() is None
        told.append(f"{piece.id} {piece.name} {piece.text}" if piece else "")
    return told


@pytest.mark.parametrize(
    ("batches", "told"),
    [
        pytest.param(
            [[(0, "a", "ask", "")], [(0, "", "", '{"q"')], [(0, "", "", ":"), (0, "", "", "1}")]],
            ["", "", 'a ask {"q":1}'],
            id="the only one, from its second piece",
        ),
        pytest.param([[(0, "a", "ask", "{}")]], [""], id="what comes in one piece is not being written"),
        pytest.param([[(0, "a", "ask", " \n")], [(0, "", "", "{}")]], ["", "a ask  \n{}"], id="after blanks"),
        pytest.param(
            [[(0, "a", "ask", '{"q'), (1, "b", "ask", "{")], [(0, "", "", '":1}')]],
            ["", ""],
            id="not one of several that come together",
        ),
        pytest.param(
            [[(0, "a", "ask", "")], [(1, "b", "ask", "")], [(0, "", "", "{}")]],
            ["", "", ""],
            id="nor one that is not alone when its arguments begin",
        ),
        pytest.param(
            [
                [(0, "a", "ask", "{"), (0, "", "", '"q')],
                [(1, "b", "ask", "{}")],
                [(0, "", "", '":1}')],
            ],
            ['a ask {"q', "", 'a ask ":1}'],
            id="what has begun goes on when another begins, which waits",
        ),
        pytest.param(
            [[(0, "a", "ask", "{"), (0, "", "", '"q')], [(0, "b", "ask", "{}")]],
            ['a ask {"q', ""],
            id="another in the same place waits, too",
        ),
        pytest.param([[(0, "a", "find", "{}")]], [""], id="not what may be merged, or is not there"),
        pytest.param([[(0, "a", "ask", '"{\\"q')], [(0, "", "", '\\":1}"')]], ["", ""], id="not JSON in JSON"),
        pytest.param([[(0, "a", "ask", "oops")], [(0, "", "", "{}")]], ["", ""], id="nor anything else"),
        pytest.param([[(0, "a", "ask", "")], []], ["", ""], id="without arguments there is nothing to show"),
        pytest.param(
            [[(NO, "", "ask", '{"q')], [(NO, "", "", '":1}')]],
            ["", 'own_1 ask {"q":1}'],
            id="an id of our own stays",
        ),
        pytest.param(
            [[(0, "a", "", '{"q')], [(0, "", "ask", "")], [(0, "", "", '":1}')]],
            ["", "", 'a ask {"q":1}'],
            id="the name comes late",
        ),
        pytest.param(
            [[(0, "a", "ask", '{"q":"\x00\ud83c')], [(0, "", "", "\udf0a")]],
            ["", 'a ask {"q":"\ufffd🌊'],
            id="characters for nobody",
        ),
    ],
)  # fmt: skip
def test_what_is_news_of_calls_in_writing(batches, told):
    assert shown(batches) == told


DELTAS = st.tuples(
    st.integers(-1, 2), st.sampled_from(["", "a", "b"]), st.sampled_from(["", "ask", "find"]),
    st.sampled_from(["", "{", '"q":1', "}", " ", '"{'])
)  # fmt: skip


@given(st.lists(st.lists(DELTAS, max_size=3), max_size=10))
def test_what_is_shown_is_the_beginning_of_the_first_call(batches):
    """Whatever a server sends, a call that was shown comes to be, in the first tab, with its name and its text."""
    numbers = count(1)
    calls = CallPreviewer(lambda: f"own_{next(numbers)}", ["ask"])
    pieces = []
    for batch in batches:
        for delta in batch:
            calls.feed(ToolCallDelta(*delta))
        if calls.has_new_deltas and (piece := calls.next_fragment()):
            pieces.append(piece)
    if pieces:
        first = calls.calls()[0]
        assert {(piece.tab, piece.id, piece.name) for piece in pieces} == {(0, first.id, "ask")}
        assert first.name == "ask"
        assert first.raw == "".join(piece.text for piece in pieces)
        assert [piece.begins for piece in pieces] == [True] + [False] * (len(pieces) - 1)


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ('{"q": "who pul', {"q": "who pul"}),
        ('{"q": "a", "most": 3', {"q": "a", "most": 3}),
        ('{"q": "a", "mo', {"q": "a"}),
        ('{"q": "a", "most":', {"q": "a"}),
        ('{"q": ["a", {"b": "c', {"q": ["a", {"b": "c"}]}),
        ('{"q": "a\\', {"q": "a"}),
        ('{"q": "\\u0000', {"q": "\ufffd"}),
        ('{"q": 1}', {"q": 1}),
        ("{", {}),
        ("", {}),
        ("[1", {}),
        ("{oops", {}),
        ('{"q": NaN', {}),
        ('{"q": 1e999}', {}),
        ('{"q":' * 100_000, {}),
    ],
)
def test_arguments_that_were_not_written_to_their_end(raw, arguments):
    assert parse_partial_arguments(raw) == arguments
