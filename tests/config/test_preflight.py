"""DEBUG, with its public password, is not opened to other machines by accident."""

from pathlib import Path

import pytest

from config.preflight import check_development_host, is_loopback
from tests.instance import LaunchedInstance

# A configuration without a web process: only the checks before the start are made.


@pytest.mark.parametrize(
    ("host", "is_local"),
    [("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("192.0.2.7", False)],
)  # fmt: skip
def test_an_address_is_local_if_only_this_machine_reaches_it(host: str, is_local: bool) -> None:
    assert is_loopback(host) == is_local


def test_a_start_without_configuration_is_refused_on_an_address_for_others(tmp_path: Path) -> None:
    status, said = LaunchedInstance(tmp_path, HOST="0.0.0.0").run()
    assert status == 78
    assert said.startswith("HOST: 0.0.0.0 can be reached from other machines")
    assert len(said.splitlines()) == 1


def test_whoever_asks_for_debug_may_open_it(capsys: pytest.CaptureFixture[str]) -> None:
    check_development_host("0.0.0.0", is_debug_chosen=True)
    with pytest.raises(SystemExit):
        check_development_host("0.0.0.0", is_debug_chosen=False)
    assert capsys.readouterr().err.count("\n") == 1
