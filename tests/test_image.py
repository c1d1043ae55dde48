"""The image and compose.yaml name what is there: processes, variables, files. Neither is run."""

import re
from fnmatch import fnmatch
from typing import Any

import pytest
import yaml

from config import command
from config.asgi_middleware import TrustedProxies
from config.programs import procfile
from tests.configuration_page import variable_names
from tests.instance import ROOT

pytestmark = [pytest.mark.pure, pytest.mark.documents]

SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "turnwire"}


def test_every_process_is_a_service_with_its_probe() -> None:
    assert set(OURS) == {"migrate", *procfile()}
    for name in procfile():
        assert command.chosen(OURS[name]["command"]).program[-1].endswith(procfile()[name])
        probe = OURS[name]["healthcheck"]["test"]
        assert probe == ["CMD", "turnwire", "alive", name]
        command.chosen(probe[2:])


def test_every_service_has_the_same_known_variables() -> None:
    variables = OURS["web"]["environment"]
    assert all(service["environment"] == variables for service in OURS.values())
    assert set(variables) <= variable_names()


def test_the_proxy_is_the_one_that_is_trusted() -> None:
    address = SERVICES["proxy"]["networks"]["default"]["ipv4_address"]
    trusted = TrustedProxies(None, OURS["web"]["environment"]["TRUSTED_PROXIES"]).trusted_hosts
    assert address in trusted
    assert "172.30.57.3" not in trusted


def test_a_worker_has_time_to_put_its_runs_back() -> None:
    """DRAIN_GRACE, and as `make run`, 10 s."""
    assert {service["stop_grace_period"] for service in OURS.values()} == {"35s"}


def test_the_servers_are_as_operations_wants_them() -> None:
    postgres, valkey = (" ".join(SERVICES[name]["command"]) for name in ("postgres", "valkey"))
    assert "--maxmemory-policy noeviction" in valkey
    operations = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    for setting in ("log_min_error_statement", "log_error_verbosity", "log_parameter_max_length_on_error"):
        [(value)] = re.findall(rf"`{setting} = (\w+)`", operations)
        assert f"{setting}={value}" in postgres


def test_what_the_package_is_built_of_is_sent_to_the_builder() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sent = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert all((ROOT / name).exists() for name in sent)
    build = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    included = re.findall(r'"([\w.]+)"', re.findall(r"(?s)only-include = \[(.*?)\]", build)[0])
    assert {"package.json", "package-lock.json", "hatch_build.py", "turnwire.py", *included} <= sent
    for name in re.findall(
        r"^COPY (\S+) \./", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE
    ):
        assert any(fnmatch(name, one) for one in sent)
