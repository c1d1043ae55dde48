"""What follows a commit cannot fail what was committed."""

import logging
from unittest import mock

import pytest
from django.db import transaction

from chat.infrastructure.background import call_after_commit
from tests.instance import ROOT


@pytest.mark.django_db(transaction=True)
def test_a_failure_after_the_commit_is_logged_by_the_name_of_what_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    after = mock.Mock()
    with caplog.at_level(logging.ERROR), transaction.atomic():
        call_after_commit(announce_badly, "Tides")
        call_after_commit(after, "Tides", n=1)
    assert [record.getMessage() for record in caplog.records] == [
        "Error calling announce_badly in on_commit() during transaction (nobody expected Tides)."
    ]
    after.assert_called_once_with("Tides", n=1)


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_is_followed_by_nothing() -> None:
    after = mock.Mock()
    with transaction.atomic():
        call_after_commit(after)
        transaction.set_rollback(True)
    after.assert_not_called()


@pytest.mark.pure
def test_nothing_else_is_called_in_a_way_whose_failure_django_cannot_log() -> None:
    """Django asks a robust callback for its name, and a partial has none."""
    found = [
        path
        for folder in ("chat", "web", "llm_worker", "ingest", "compression", "features", "knowledge")
        for path in (ROOT / folder).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "robust=True" in line and "(partial(" in line
    ]
    assert found == []


def announce_badly(name: str) -> None:
    raise LookupError(f"nobody expected {name}")
