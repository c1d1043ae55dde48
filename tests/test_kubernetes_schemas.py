"""What kustomize makes of the manifests fits the schemas of Kubernetes. No cluster is asked."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.instance import ROOT
from tests.test_kubernetes import FOLDER, PROCESSES

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl is not installed"),
]

VALIDATOR = ROOT / ".venv-kubernetes" / "bin" / "kubernetes-validate"
VERSIONS = ("1.25", "1.29", "1.32", "1.37")


def rendered(folder: Path, kustomization: str) -> list[dict[str, Any]]:
    made = subprocess.run(
        ["kubectl", "kustomize", folder / kustomization], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return list(yaml.safe_load_all(made.stdout))


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    """A copy with secrets."""
    folder = tmp_path / "kubernetes"
    shutil.copytree(FOLDER, folder)
    (folder / "common" / "secrets.env").write_text("SECRET_KEY=secret\n", encoding="utf-8")
    return folder


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def pods(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each["spec"]["template"]["spec"] for each in objects if each["kind"] in ("Deployment", "Job")]


@pytest.mark.parametrize("storage", ["folder", "bucket"])
def test_every_pod_is_confined_and_has_variables_and_volumes(manifests: Path, storage: str) -> None:
    replace(manifests / "common" / "kustomization.yaml", "- ../folder", f"- ../{storage}")
    objects = [*rendered(manifests, "migrate"), *rendered(manifests, "processes")]
    assert len(pods(objects)) == len(PROCESSES) + 1
    generated = {each["metadata"]["name"] for each in objects if each["kind"] in ("ConfigMap", "Secret")}
    for pod in pods(objects):
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        assert set(volumes) == {"data", "tmp"}
        assert ("emptyDir" in volumes["data"]) == (storage == "bucket")
        assert pod["securityContext"]["runAsNonRoot"]
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            assert container["securityContext"]["readOnlyRootFilesystem"]
            named = {source["name"] for each in container["envFrom"] for source in each.values()}
            assert named == generated
            assert re.fullmatch(r"registry\.example\.org/turnwire:[\d.]+", container["image"])
    claims = [each for each in objects if each["kind"] == "PersistentVolumeClaim"]
    assert bool(claims) == (storage == "folder")


def test_keda_alone_says_how_many_llm_workers_there_are(manifests: Path) -> None:
    replace(manifests / "processes" / "kustomization.yaml", "# - ../keda", "- ../keda")
    objects = rendered(manifests, "processes")
    scaled = {each["spec"]["scaleTargetRef"]["name"] for each in objects if each["kind"] == "ScaledObject"}
    counted = {
        each["metadata"]["name"]
        for each in objects
        if each["kind"] == "Deployment" and "replicas" in each["spec"]
    }
    assert scaled
    assert scaled | counted == set(PROCESSES)
    assert scaled & counted == set()


@pytest.mark.skipif(not VALIDATOR.exists(), reason="make kubernetes installs the schemas")
@pytest.mark.parametrize("storage", ["folder", "bucket"])
def test_what_is_made_fits_the_schemas(manifests: Path, storage: str) -> None:
    replace(manifests / "common" / "kustomization.yaml", "- ../folder", f"- ../{storage}")
    objects = [*rendered(manifests, "migrate"), *rendered(manifests, "processes")]
    file = manifests / "made.yaml"
    versions = [word for version in VERSIONS for word in ("-k", version)]
    command = [VALIDATOR, "--strict", "--quiet", *versions, file]
    file.write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    good = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (good.returncode, good.stdout + good.stderr) == (0, "")
    # It sees what is wrong.
    replace(file, "maxSurge", "maxSurges")
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
