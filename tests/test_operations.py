"""The page for operators names the metrics that are exported. Its commands run in tests/faults/test_backup.py."""

import re

import pytest

from tests.instance import ROOT
from web.rest.health import DeploymentCollector

OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


@pytest.mark.django_db
def test_operations_describes_exactly_the_exported_metrics() -> None:
    exported = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in DeploymentCollector().collect()
    }
    parts = r"_(?:bucket|count|sum)$"
    named = {re.sub(parts, "", name) for name in re.findall(r"\bturnwire_\w+", OPERATIONS)}
    assert named == exported
