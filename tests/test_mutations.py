"""The tests of every change notice when a core promise is broken."""

import pytest

from tests.instance import ROOT
from tests.mutations import MUTATIONS, Mutation, failures


@pytest.mark.pure
@pytest.mark.documents
def test_each_mutation_still_changes_the_code() -> None:
    counts = {one.promise: (ROOT / one.file).read_text(encoding="utf-8").count(one.old) for one in MUTATIONS}
    assert counts == dict.fromkeys(counts, 1)


@pytest.mark.pure
@pytest.mark.documents
def test_the_table_in_the_readme_names_each_mutation() -> None:
    readme = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    assert [one.promise for one in MUTATIONS if f"| {one.promise} | `{one.file}` |" not in readme] == []


@pytest.mark.full
@pytest.mark.timeout(400)
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.promise)
def test_a_broken_promise_is_noticed(mutation: Mutation) -> None:
    assert failures(mutation)
