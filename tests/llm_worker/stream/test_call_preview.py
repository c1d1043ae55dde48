"""Fragments of a call that readers are shown while the model writes it."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_worker.stream.call_assembler import CallPreviewer, parse_partial_arguments
from llm_worker.upstream.deltas import NO_INDEX, ToolCallDelta

pytestmark = pytest.mark.pure

NO = NO_INDEX


def shown(batches, watchable=("ask",)):
    """For each batch of deltas: the fragment to show, as "id name text"; "" for none."""
    numbers = count(1)
    calls = CallPreviewer(lambda: f"own_{next(numbers)}", watchable)
    fragments = []
    for batch in batches:
        for delta in batch:
            calls.feed(ToolCallDelta(*delta))
        piece = calls.next_fragment()
        assert calls.next_fragment() is None
        fragments.append(f"{piece.id} {piece.name} {piece.text}" if piece else "")
    return fragments


@pytest.mark.parametrize(
    ("batches", "fragments"),
    [
        pytest.param(
            [[(0, "a", "ask", "")], [(0, "", "", '{"q"')], [(0, "", "", ":"), (0, "", "", "1}")]],
            ["", "", 'a ask {"q":1}'],
            id="the only call, from its second piece",
        ),
        pytest.param([[(0, "a", "ask", "{}")]], [""], id="a call that arrives in one piece is not shown"),
        pytest.param([[(0, "a", "ask", " \n")], [(0, "", "", "{}")]], ["", "a ask  \n{}"], id="leading white space is not shown alone"),
        pytest.param(
            [[(0, "a", "ask", '{"q'), (1, "b", "ask", "{")], [(0, "", "", '":1}')]],
            ["", ""],
            id="none of several calls that arrive together",
        ),
        pytest.param(
            [[(0, "a", "ask", "")], [(1, "b", "ask", "")], [(0, "", "", "{}")]],
            ["", "", ""],
            id="nor a call that is not alone when its arguments start",
        ),
        pytest.param(
            [
                [(0, "a", "ask", "{"), (0, "", "", '"q')],
                [(1, "b", "ask", "{}")],
                [(0, "", "", '":1}')],
            ],
            ['a ask {"q', "", 'a ask ":1}'],
            id="the first call continues when a second starts, which is not shown",
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
            id="characters that cannot be stored",
        ),
    ],
)  # fmt: skip
def test_each_batch_yields_at_most_one_fragment_of_the_first_call(batches, fragments):
    assert shown(batches) == fragments


DELTAS = st.tuples(
    st.integers(-1, 2), st.sampled_from(["", "a", "b"]), st.sampled_from(["", "ask", "find"]),
    st.sampled_from(["", "{", '"q":1', "}", " ", '"{'])
)  # fmt: skip


@given(st.lists(st.lists(DELTAS, max_size=3), max_size=10))
def test_the_fragments_shown_add_up_to_the_first_call(batches):
    """A call that was shown is the first of the step, with the name and text shown, whatever a server sends."""
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
def test_incomplete_arguments_are_parsed_as_far_as_they_go(raw, arguments):
    assert parse_partial_arguments(raw) == arguments
