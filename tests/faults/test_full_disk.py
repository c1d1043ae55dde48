"""The disk of files, or that of temporary files, is full: uploads that do not fit are refused and leave nothing."""

import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest

from tests.faults.cluster import Cluster
from tests.faults.uploader import Uploader

pytestmark = [pytest.mark.fault, pytest.mark.core, pytest.mark.timeout(240)]

DISK = 4 * 1024 * 1024
# A text of this size is in a temporary file of web twice, as a body and as a content.
LARGE, SMALL = b"large " * (DISK // 6 + 1), b"small"


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk of a few megabytes."""
    folder = tmp_path_factory.mktemp("disk")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("NOT TESTED: no disk can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture(scope="module")
def cluster(disk: Path) -> Iterator[Cluster]:
    with Cluster.running() as cluster:
        yield cluster


@pytest.fixture
async def uploader(cluster: Cluster) -> AsyncIterator[Uploader]:
    async with Uploader.logged_in(cluster, sockets=1) as uploader:
        yield uploader


async def check_uploads(cluster: Cluster, uploader: Uploader, disk: Path) -> None:
    """Send large and small files by turns: the small ones are stored, and the others leave nothing but a line."""
    logged = len(cluster.stack.log("web"))
    count = "SELECT count(*) FROM knowledge_file"
    before, used = cluster.rows(count)[0][0], contents(cluster)
    for _ in range(2):
        refused = await send(uploader, LARGE)
        assert (refused.status_code, refused.json()["code"]) == (503, "file_storage_unavailable")
        assert (await send(uploader, SMALL)).status_code == 201
    assert cluster.rows(count)[0][0] == before + 2
    assert sorted(path.stat().st_size for path in contents(cluster) - used) == [len(SMALL)] * 2
    log = cluster.stack.log("web")[logged:]
    assert log.count("No space left") == 1
    assert "Traceback" not in log


async def send(uploader: Uploader, content: bytes) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, headers=uploader.headers) as http:
        return await http.post(f"{uploader.base_url}/api/files/", files={"file": ("a.txt", content)})


def contents(cluster: Cluster) -> set[Path]:
    return set((cluster.stack.directory / "media").rglob("files/*"))


async def test_a_full_disk_of_files(cluster: Cluster, uploader: Uploader, disk: Path) -> None:
    media = cluster.stack.directory / "media"
    media.symlink_to(disk)
    try:
        await check_uploads(cluster, uploader, disk)
    finally:
        media.unlink()


async def test_a_full_disk_of_temporary_files(cluster: Cluster, uploader: Uploader, disk: Path) -> None:
    cluster.kill("web")
    cluster.stack.start("web", environment={"TMPDIR": str(disk)})
    cluster.stack.wait_until_ready()
    await check_uploads(cluster, uploader, disk)
