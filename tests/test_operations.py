"""The page for operators names the metrics that are exported, and its commands work."""

import os
import re
import subprocess
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.instance import ROOT
from tests.services import Services
from web.rest.metrics import DeploymentCollector

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


def test_the_backup_commands_restore_a_backup(services: Services, tmp_path: Path) -> None:
    """With the commands of operations.md, into a new database."""
    commands = re.findall(r"\$BIN/(pg_dump|pg_restore)([^`\n]*)", OPERATIONS)
    assert [name for name, _ in commands] == ["pg_dump", "pg_restore"]
    binaries = next(line for line in OPERATIONS.splitlines() if line.startswith("BIN="))
    urls = [make_conninfo(services.postgres.url, dbname=name) for name in ("dumped", "restored")]
    with psycopg.connect(services.postgres.url, autocommit=True) as admin:
        admin.execute("CREATE DATABASE dumped")
        admin.execute("CREATE DATABASE restored")
    with psycopg.connect(urls[0]) as database:
        database.execute("CREATE TABLE said AS SELECT 'Two.' AS text")
    for (name, arguments), url in zip(commands, urls, strict=True):
        replaced = arguments.replace("turnwire.dump", str(tmp_path / "turnwire.dump"))
        command = ["sh", "-ec", f'{binaries}; "$BIN"/{name}{replaced}']
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "URL": url})
    with psycopg.connect(urls[1]) as database:
        assert database.execute("SELECT text FROM said").fetchall() == [("Two.",)]
