"""The manifests name what is there: processes, variables, paths, metrics, volumes. tests/test_kubernetes_schemas.py has the schemas."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from config import command
from config.asgi_middleware import TrustedProxies
from config.installation import version
from config.programs import HANDOVER_S, procfile
from tests.configuration_page import variable_names
from tests.instance import ROOT
from tests.test_image import OURS, SERVICES
from web.rest.middleware import PROBES

pytestmark = [pytest.mark.pure, pytest.mark.documents]

FOLDER = ROOT / "deploy" / "kubernetes"
PAGE = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
FILES = {
    str(path.relative_to(FOLDER)): list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
    for path in sorted(FOLDER.rglob("*.yaml"))
}
OBJECTS: list[dict[str, Any]] = [each for documents in FILES.values() for each in documents]
# Of all pods.
POD: dict[str, Any] = FILES["common/pod.yaml"][0]["spec"]["template"]["spec"]
# Workloads of which each is one process, by name.
PROCESSES = {
    each["metadata"]["name"]: each for each in OBJECTS
    if each["kind"] == "Deployment" and each["metadata"]["name"] != "every" and "replicas" in each["spec"]
}  # fmt: skip
VALUES = dict(
    re.findall(r"^([A-Z_]+)=(.*)$", (FOLDER / "common" / "turnwire.env").read_text("utf-8"), re.MULTILINE)
)


def objects(kind: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in OBJECTS if each["kind"] == kind}


def container(workload: dict[str, Any]) -> dict[str, Any]:
    [found] = workload["spec"]["template"]["spec"]["containers"]
    return found


def own_values(workload: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container(workload).get("env", [])}


def kind_of(workload: dict[str, Any]) -> str:
    """The process that it runs."""
    words = container(workload)["args"]
    return words[1] if words[0] == "worker" else words[0]


def every(value: Any, key: str) -> list[Any]:
    """What stands under this key, however deep."""
    if isinstance(value, list):
        return [found for each in value for found in every(each, key)]
    if not isinstance(value, dict):
        return []
    here = [value[key]] if key in value else []
    return here + [found for each in value.values() for found in every(each, key)]


def test_every_process_runs_and_its_command_exists() -> None:
    assert {kind_of(workload) for workload in PROCESSES.values()} == set(procfile())
    for workload in PROCESSES.values():
        assert command.chosen(container(workload)["args"]).program[-1].endswith(procfile()[kind_of(workload)])
    assert [container(job)["args"] for job in objects("Job").values()] == [OURS["migrate"]["command"]]
    [first] = FILES["bucket/static-files.yaml"][0]["spec"]["template"]["spec"]["initContainers"]
    command.chosen(first["args"])


def test_every_process_has_the_probes_of_its_kind() -> None:
    for workload in PROCESSES.values():
        probes = {name: probe for name, probe in container(workload).items() if name.endswith("Probe")}
        assert {"startupProbe", "livenessProbe"} <= set(probes)
        if kind_of(workload) == "web":
            assert {probe["httpGet"]["path"] for probe in probes.values()} == set(PROBES)
            assert {probe["httpGet"]["port"] for probe in probes.values()} == {"http"}
            assert "readinessProbe" in probes
        else:
            words = {tuple(probe["exec"]["command"]) for probe in probes.values()}
            assert words == {("turnwire", "alive", kind_of(workload))}


def test_requests_reach_the_port_of_web() -> None:
    [port] = container(PROCESSES["web"])["ports"]
    assert port == {"name": "http", "containerPort": settings.PORT}
    assert f"EXPOSE {settings.PORT}" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    service = objects("Service")["web"]["spec"]
    assert [each["targetPort"] for each in service["ports"]] == ["http"]
    labels = PROCESSES["web"]["spec"]["template"]["metadata"]["labels"]
    assert service["selector"].items() <= labels.items()
    [named] = every(objects("Ingress")["web"], "service")
    assert named == {"name": "web", "port": {"name": "http"}}


def test_selectors_and_disruption_budgets_mean_workloads() -> None:
    for name, workload in PROCESSES.items():
        labels = workload["spec"]["template"]["metadata"]["labels"]
        assert workload["spec"]["selector"]["matchLabels"] == labels
        assert labels["app.kubernetes.io/component"] == name
    for name, budget in objects("PodDisruptionBudget").items():
        assert budget["spec"]["selector"] == PROCESSES[name]["spec"]["selector"]
        # One pod that may not be evicted would keep its node from being drained.
        assert PROCESSES[name]["spec"]["replicas"] > 1


def test_every_variable_is_known() -> None:
    [secrets] = re.findall(r"(?s)secrets\.env <<END\n(.*?)\nEND", PAGE)
    of_page = set(re.findall(r"^([A-Z_]+)=", secrets, re.MULTILINE))
    assert {"SECRET_KEY", "SECRETS_KEYS", "DATABASE_URL", "REDIS_URL"} <= of_page
    of_workloads = {name for workload in PROCESSES.values() for name in own_values(workload)}
    assert (of_page | of_workloads | set(VALUES)) <= variable_names()
    assert not of_page & set(VALUES)


def test_the_image_is_that_of_compose_and_of_this_version() -> None:
    images = {image for image in every(OBJECTS, "image") if image}
    assert images == {service["image"] for service in OURS.values()}
    [renamed] = FILES["common/kustomization.yaml"][0]["images"]
    assert renamed["name"] in images
    assert renamed["newTag"] == version()


def test_pods_are_confined_as_containers_of_compose_are() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    of_pod = POD["securityContext"]
    assert f"USER {of_pod['runAsUser']}:{of_pod['runAsGroup']}" in dockerfile
    for context in every(OBJECTS, "securityContext"):
        assert context == of_pod or (
            context["readOnlyRootFilesystem"]
            and not context["allowPrivilegeEscalation"]
            and context["capabilities"] == {"drop": ["ALL"]}
        )
    assert of_pod["runAsNonRoot"]
    mounts = {each["name"]: each["mountPath"] for each in POD["containers"][0]["volumeMounts"]}
    assert mounts == {"data": "/data", "tmp": "/tmp"}
    for storage in ("folder", "bucket"):
        [volume] = FILES[f"{storage}/volume.yaml"][0]["spec"]["template"]["spec"]["volumes"]
        assert volume["name"] == "data"


def test_a_worker_has_time_to_put_its_runs_back() -> None:
    grace_s = POD["terminationGracePeriodSeconds"]
    assert grace_s > int(VALUES["DRAIN_GRACE"]) + HANDOVER_S
    assert {f"{grace_s}s"} == {service["stop_grace_period"] for service in OURS.values()}
    [hook] = every(PROCESSES["web"], "preStop")
    assert hook["exec"]["command"][0] == "sleep"
    # What web has for its requests (Procfile), and a margin.
    assert int(hook["exec"]["command"][1]) + 5 + 10 < grace_s


def test_readers_of_files_have_the_memory_that_operations_wants() -> None:
    limit = container(PROCESSES["ingest"])["resources"]["limits"]["memory"]
    assert re.search("`INGEST_CONCURRENCY` . 1.2 GB", OPERATIONS)
    assert int(limit.removesuffix("Gi")) * 2**30 > int(VALUES["INGEST_CONCURRENCY"]) * 1.2e9


def test_the_ingress_lets_the_longest_body_pass() -> None:
    annotations = objects("Ingress")["web"]["metadata"]["annotations"]
    sizes = [value for name, value in annotations.items() if name.endswith("body-size")]
    assert len(sizes) == 2
    assert all(int(size.removesuffix("m")) * 2**20 > settings.MAX_IMPORT_BYTES for size in sizes)


def test_the_hosts_are_those_of_the_ingress_and_of_the_service() -> None:
    namespace = FILES["common/kustomization.yaml"][0]["namespace"]
    ingress = objects("Ingress")["web"]["spec"]
    assert [rule["host"] for rule in ingress["rules"]] == ingress["tls"][0]["hosts"]
    assert VALUES["ALLOWED_HOSTS"].split(",") == [ingress["rules"][0]["host"], f"web.{namespace}.svc"]
    assert namespace in objects("Namespace")
    assert "10.244.7.8" in TrustedProxies(None, VALUES["TRUSTED_PROXIES"]).trusted_hosts


def test_pools_are_scaled_by_their_own_queue() -> None:
    """By runs for each worker: three quarters of those that it takes side by side."""
    scaled = objects("ScaledObject")
    assert set(scaled) == {name for name, workload in PROCESSES.items() if kind_of(workload) == "llm"}
    for name, each in scaled.items():
        assert each["spec"]["scaleTargetRef"]["name"] == name
        workload = PROCESSES[each["spec"]["scaleTargetRef"]["name"]]
        variables = command.chosen(container(workload)["args"]).values
        [trigger] = each["spec"]["triggers"]
        query = trigger["metadata"]["query"]
        assert set(re.findall(r'queue="(.*?)"', query)) == {variables.get("LLM_QUEUES", "llm")}
        # tests/test_operations.py: the page names the metrics that are exported.
        assert set(re.findall(r"turnwire_\w+", query)) <= set(re.findall(r"`(turnwire_\w+)`", OPERATIONS))
        slots = int((VALUES | own_values(workload))["LLM_CONCURRENCY"])
        assert int(trigger["metadata"]["threshold"]) == -(-slots * 3 // 4)


def test_every_file_is_used() -> None:
    used: set[Path] = set()
    for name, [content, *_] in FILES.items():
        if Path(name).name == "kustomization.yaml":
            folder = FOLDER / Path(name).parent
            paths = [*content.get("resources", []), *every(content.get("patches", []), "path")]
            used |= {FOLDER / name, *(folder / path for path in paths)}
            assert all((folder / path).exists() for path in [*paths, *content.get("components", [])])
    assert used == {FOLDER / name for name in FILES}


def test_the_servers_of_compose_are_what_the_page_asks_for() -> None:
    assert "`maxmemory-policy noeviction`" in PAGE
    assert "pgvector" in PAGE
    assert "pgvector" in SERVICES["postgres"]["image"]
