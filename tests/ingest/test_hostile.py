"""The generator of hostile files."""

import pytest

from tests.ingest.hostile import FAMILIES, hostile_files, sample

pytestmark = pytest.mark.pure


def test_there_are_at_least_200_different_files() -> None:
    files = hostile_files()
    assert len({one.label for one in files}) == len(files) >= 200


def test_a_sample_has_some_of_every_family_and_says_what_it_leaves_out() -> None:
    chosen, left_out = sample(60)
    assert {one.family for one in chosen} == set(FAMILIES)
    assert {one.label for one in chosen} | {one.label for one in left_out} == {
        one.label for one in hostile_files()
    }
    assert len(chosen) < 70


def test_the_same_seed_makes_the_same_file() -> None:
    first, again, other = (
        next(one for one in hostile_files(seed) if one.label == "pdfs/random.pdf").content()
        for seed in (1, 1, 2)
    )
    assert first == again != other
