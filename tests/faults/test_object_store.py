"""Files in a bucket of a real server, which is killed and comes back: chats go on, and no file is lost or left behind."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.faults.cluster import Cluster
from tests.faults.uploader import Uploader
from tests.ingest import documents
from tests.object_store import ObjectStore

pytestmark = [pytest.mark.fault, pytest.mark.timeout(600)]

PREFIX = "faults"


@pytest.fixture(scope="module")
def cluster(object_store: ObjectStore) -> Iterator[Cluster]:
    with Cluster.running(STORAGE_URL=object_store.url(PREFIX)) as cluster:
        cluster.stack.start("ingest")
        yield cluster


@pytest.fixture
async def uploader(cluster: Cluster) -> AsyncIterator[Uploader]:
    async with Uploader.logged_in(cluster) as uploader:
        yield uploader
    print(cluster.logs())


async def test_a_server_that_is_killed_delays_files_and_loses_none(
    cluster: Cluster, uploader: Uploader, object_store: ObjectStore
) -> None:
    deleted, waiting = [
        await uploader.upload("moon.jpg", documents.picture_of_a_camera(size=(600, 400))) for _ in range(2)
    ]
    for pk in (deleted, waiting):
        assert (await uploader.ended(pk))["has_thumbnail"]
    cluster.kill("ingest")
    late = await uploader.upload("tides.txt", documents.TIDES.encode())
    object_store.stop()
    cluster.stack.start("ingest")

    refused = await uploader.ask("POST", "files/", files={"file": ("a.txt", b"Two tides a day.")})
    assert (refused.status_code, refused.json()["code"]) == (503, "file_storage_unavailable")
    for part in ("content", "thumbnail"):
        assert (await uploader.ask("GET", f"files/{waiting}/{part}/")).status_code == 503
    assert (await uploader.ask("DELETE", f"files/{deleted}/")).status_code == 204
    cluster.wait_until(
        lambda: "tried again after" in cluster.stack.log("ingest"), "the extraction to meet the outage"
    )
    assert (await uploader.ask("GET", f"files/{late}/")).json()["status"] == "processing"

    object_store.start()
    assert (await uploader.ended(late))["status"] == "ready"
    assert [len(ends) for ends in uploader.ends(late)] == [1, 1]
    small = await uploader.ask("GET", f"files/{waiting}/thumbnail/")
    assert (small.status_code, small.content[:4]) == (200, b"RIFF")
    kept = {f"files/{late}", f"files/{waiting}-1", f"files/{waiting}-1-thumbnail"}
    own = (deleted, waiting, late)
    cluster.wait_until(
        lambda: {key for key in object_store.keys(PREFIX) if any(pk in key for pk in own)} == kept,
        "the contents of the deleted file to go",
    )
