"""DATABASE_URL may name several hosts; the first that answers is used."""

import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

import pytest

from config import database_url
from tests.faults.proxy import Proxy
from tests.instance import ROOT
from tests.services import Services

PROBE = """
import django
django.setup()
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SELECT count(*) FROM pg_class")
print(connection.connection.info.port)
"""


@pytest.mark.pure
@pytest.mark.parametrize(
    ("address", "hosts", "ports"),
    [
        ("db.example.org", "db.example.org", ""),
        ("db.example.org:6432", "db.example.org", "6432"),
        ("first:5432,second:5433", "first,second", "5432,5433"),
        ("first,second:5433", "first,second", "5432,5433"),
        ("[::1]:5433,192.0.2.7", "::1,192.0.2.7", "5433,5432"),
    ],
)
def test_hosts_and_ports_are_in_the_order_of_the_address(address: str, hosts: str, ports: str) -> None:
    read = database_url.parse(f"postgresql://turn:a%40b@{address}/wire?target_session_attrs=read-write")
    assert (read["HOST"], str(read["PORT"])) == (hosts, ports)
    assert (read["USER"], read["PASSWORD"], read["NAME"]) == ("turn", "a@b", "wire")
    assert read["OPTIONS"]["target_session_attrs"] == "read-write"


@pytest.mark.pure
@pytest.mark.parametrize(
    "address",
    [
        "host:port",
        "first:1,second:port",
        "first,,second",
        "first,",
        "first:123456,second",
        "[::1,second",
        "a:b:1,c",
    ],
)
def test_what_cannot_be_read_is_one_line_without_the_password(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        database_url.parse(f"postgresql://turn:hunter2@{address}/wire")
    said = capsys.readouterr().err
    assert (ended.value.code, len(said.splitlines())) == (78, 1)
    assert said.startswith("DATABASE_URL: ")
    assert "hunter2" not in said


def test_a_process_connects_to_the_second_host_while_the_first_is_away(
    services: Services, tmp_path: Any
) -> None:
    with Proxy.before(services.postgres.url) as proxy:
        parts = urlsplit(proxy.url)
        login = parts.netloc.rpartition("@")[0]
        several = parts._replace(netloc=f"{login}@127.0.0.1:1,127.0.0.1:{proxy.port}").geturl()
        done = subprocess.run(
            [sys.executable, "-c", PROBE], cwd=ROOT, capture_output=True, text=True, check=False,
            env={"DEBUG": "1", "DATA_DIR": str(tmp_path), "PATH": "", "DJANGO_SETTINGS_MODULE": "config.settings",
                 **services.environment(), "DATABASE_URL": several},
        )  # fmt: skip
        assert (done.returncode, done.stdout.strip()) == (0, str(proxy.port)), done.stderr
