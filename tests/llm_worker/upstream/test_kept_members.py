"""Lists that a server streams in pieces, and wants back, go back in whole parts."""

from itertools import chain

import pytest

from llm_worker.upstream.deltas import Kept
from llm_worker.upstream.kept_members import KeptMembers

pytestmark = pytest.mark.pure

CLAUDE = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0}
LITELLM = {"type": "thinking"}
ENCRYPTED = {"type": "reasoning.encrypted", "format": "openai-responses-v1", "index": 0}
SUMMARY = {"type": "reasoning.summary", "index": 0}


def kept(*chunks, name="reasoning_details"):
    """The list that goes back, of the lists of the chunks."""
    members = KeptMembers()
    for chunk in chunks:
        members.take(Kept(name, list(chunk)))
    sent = members.give()
    return sent.members[name] if sent else None


@pytest.mark.parametrize(
    ("pieces", "parts"),
    [
        pytest.param(
            [CLAUDE | {"text": "Let"}, CLAUDE | {"text": " me compute"}, CLAUDE | {"signature": "s1g"}],
            [CLAUDE | {"text": "Let me compute", "signature": "s1g"}],
            id="the signature alone at the end",
        ),
        pytest.param(
            [
                CLAUDE | {"text": "hm", "signature": None, "id": "r1"},
                CLAUDE | {"text": None, "signature": "s1g", "id": None},
                CLAUDE | {"text": "", "signature": "", "id": ""},
            ],
            [CLAUDE | {"text": "hm", "signature": "s1g", "id": "r1"}],
            id="null and empty texts overwrite nothing",
        ),
        pytest.param(
            [
                SUMMARY | {"summary": "A", "id": "rs_1"},
                SUMMARY | {"summary": "B", "id": None},
                SUMMARY | {"summary": "C", "id": "rs_2"},
            ],
            [SUMMARY | {"summary": "AB", "id": "rs_1"}, SUMMARY | {"summary": "C", "id": "rs_2"}],
            id="parts with ids of their own",
        ),
        pytest.param(
            [
                CLAUDE | {"text": "a"},
                CLAUDE | {"text": "b", "index": 1},
                CLAUDE | {"signature": "1"},
                CLAUDE | {"signature": "2", "index": 1},
            ],
            [CLAUDE | {"text": "a", "signature": "1"}, CLAUDE | {"text": "b", "signature": "2", "index": 1}],
            id="two parts in turn",
        ),
        pytest.param(
            [CLAUDE | {"text": "a", "signature": "1"}, CLAUDE | {"text": "b", "signature": "2"}],
            [CLAUDE | {"text": "a", "signature": "1"}, CLAUDE | {"text": "b", "signature": "2"}],
            id="whole blocks that share an index",
        ),
        pytest.param(
            [CLAUDE | {"text": "a"}, {"type": "reasoning.text", "signature": "s1g"}],
            [CLAUDE | {"text": "a", "signature": "s1g"}],
            id="a signature without the index",
        ),
        pytest.param(
            [LITELLM | {"thinking": "a", "signature": ""}, LITELLM | {"thinking": "b", "signature": ""},
             LITELLM | {"thinking": "", "signature": "s1g"}],
            [LITELLM | {"thinking": "ab", "signature": "s1g"}],
            id="without indexes",
        ),
        pytest.param(
            [SUMMARY | {"summary": "So"}, SUMMARY | {"summary": " it is"}, ENCRYPTED | {"data": "x", "id": "r"},
             ENCRYPTED | {"data": "y", "id": "r"}],
            [SUMMARY | {"summary": "So it is"}, ENCRYPTED | {"data": "x", "id": "r"},
             ENCRYPTED | {"data": "y", "id": "r"}],
            id="encrypted data is not touched",
        ),
        pytest.param([{"x": 1}, {"x": 2}, 7, [8]], [{"x": 1}, {"x": 2}, 7, [8]], id="parts of an unknown kind"),
    ],
)  # fmt: skip
def test_pieces_are_joined_by_type_and_index_up_to_the_signature(pieces, parts):
    assert kept(*([piece] for piece in pieces)) == parts
    assert kept(pieces) == parts
    assert kept(parts) == parts


def test_a_long_block_goes_back_once_and_not_in_ten_thousand_pieces():
    words = [f"{number} " for number in range(10_000)]
    pieces = chain(([CLAUDE | {"text": word}] for word in words), [[CLAUDE | {"signature": "s1g"}]])
    assert kept(*pieces) == [CLAUDE | {"text": "".join(words), "signature": "s1g"}]
