"""What servers with the API of OpenAI answer."""

import pytest

from knowledge.search.embedders import read_vectors

pytestmark = pytest.mark.pure


def test_vectors_are_read_by_their_index() -> None:
    data = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]
    assert read_vectors({"data": data}, 2) == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    "answer",
    [
        [],
        {"data": None},
        {"data": [{"index": 0, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]},
        {"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]},
        {"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}]},
    ],
)
def test_other_answers_are_refused(answer: object) -> None:
    with pytest.raises((ValueError, TypeError, KeyError, AttributeError)):
        read_vectors(answer, 2)
