"""Files end ready or failed, once, whatever is killed; the pool of processes that read them stays alive."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from typing import Any

import kombu
import psutil
import pytest

from chat.infrastructure.fault_points import Point
from chat.protocol.tasks import EXTRACT_FILE, INGEST_QUEUE
from tests.faults.cluster import Cluster
from tests.faults.uploader import Uploader
from tests.ingest import documents

pytestmark = [pytest.mark.fault, pytest.mark.timeout(900)]

TEXT = documents.TIDES.encode()
POINTS: tuple[Point, ...] = (
    "after_file_claim",
    "before_file_end",
    "before_thumbnail_stored",
    "after_picture_stored",
    "after_file_end",
)


@pytest.fixture(autouse=True)
def no_workers(without_workers: None) -> None:
    pass


@pytest.fixture
async def uploader(cluster: Cluster) -> AsyncIterator[Uploader]:
    async with Uploader.logged_in(cluster) as uploader:
        yield uploader
    print(cluster.logs())


def blobs(cluster: Cluster) -> set[str]:
    return {path.name for path in (cluster.stack.directory / "media" / "files").iterdir()}


def paths(cluster: Cluster) -> set[str]:
    rows = cluster.rows("SELECT content, thumbnail FROM knowledge_file")
    return {path.removeprefix("files/") for row in rows for path in row if path}


def pool_of(cluster: Cluster, name: str = "ingest") -> list[psutil.Process]:
    return psutil.Process(cluster.stack.processes[name].pid).children()


def readers(cluster: Cluster) -> list[psutil.Process]:
    """The child processes that read files for this cluster; other test processes have theirs."""
    found = []
    for name in [name for name in cluster.stack.processes if name.startswith("ingest")]:
        with contextlib.suppress(psutil.NoSuchProcess):
            below = psutil.Process(cluster.stack.processes[name].pid).children(recursive=True)
            found += [process for process in below if is_reader(process)]
    return found


def is_reader(process: psutil.Process) -> bool:
    try:
        return "ingest.reader" in process.cmdline()
    except psutil.Error:
        return False


async def test_each_file_ends_once_on_every_socket(cluster: Cluster, uploader: Uploader) -> None:
    cluster.stack.start("ingest")
    text = await uploader.upload("tides.txt", TEXT)
    picture = await uploader.upload("moon.jpg", documents.picture_of_a_camera())
    broken = await uploader.upload("a.pdf", b"%PDF-1.7 garbage")
    fits = (await uploader.ended(text))["fits"]
    assert fits["alpha"] is fits["beta"] is fits["gamma"] is True
    shape = await uploader.ended(picture)
    assert (shape["kind"], shape["width"], shape["height"]) == ("image", 48, 64)
    content = (await uploader.ask("GET", f"files/{picture}/content/")).content
    assert len(content) == shape["size"]
    assert b"SECRET" not in content
    assert shape["has_thumbnail"]
    small = await uploader.ask("GET", f"files/{picture}/thumbnail/")
    assert (small.status_code, small.headers["content-type"]) == (200, "image/webp")
    assert (await uploader.ended(broken))["error"]["code"] == "document_corrupt"
    for pk in (text, picture, broken):
        assert [len(ends) for ends in uploader.ends(pk)] == [1, 1]
        assert uploader.ends(pk)[0][0] == {
            "type": "file",
            **(await uploader.ask("GET", f"files/{pk}/")).json(),
        }
    cluster.wait_until(lambda: blobs(cluster) == paths(cluster), "the replaced blob to go")


async def test_nobody_else_is_told(cluster: Cluster, uploader: Uploader) -> None:
    cluster.stack.start("ingest")
    async with Uploader.logged_in(cluster, "bob", sockets=1) as bob:
        await uploader.ended(await uploader.upload("tides.txt", TEXT))
        own = await bob.upload("own.txt", TEXT)
        await bob.ended(own)
        assert {frame["id"] for frame in bob.frames[0]} == {own}


@pytest.mark.parametrize("point", POINTS)
async def test_a_process_killed_at_any_point_repeats_and_loses_nothing(
    cluster: Cluster, uploader: Uploader, point: Point
) -> None:
    cluster.stack.start(
        "ingest", "ingest.broken", {"FAULT_POINTS": f"{point}=kill", "INGEST_CONCURRENCY": "1"}
    )
    [first] = await until(lambda: pool_of(cluster, "ingest.broken"))
    pk = await uploader.upload("moon.jpg", documents.picture_of_a_camera())
    await until(lambda: not first.is_running() or first.status() == psutil.STATUS_ZOMBIE)
    cluster.kill_for_good("ingest.broken")
    cluster.stack.start("ingest")
    assert (await uploader.ended(pk))["status"] == "ready"
    await asyncio.sleep(3)  # behaviour under test: the sweeper announces nothing again
    assert [len(ends) for ends in uploader.ends(pk)] == [1, 1]


async def test_a_file_that_kills_every_process_fails_once_and_the_pool_goes_on(
    cluster: Cluster, uploader: Uploader
) -> None:
    environment = {"FAULT_POINTS": "after_picture_stored=kill"}
    cluster.stack.start("ingest", "ingest", environment)
    poisoned = await uploader.upload("a.txt", TEXT)
    shape = await uploader.ended(poisoned)
    assert (shape["status"], shape["error"]["code"]) == ("failed", "file_unreadable")
    assert [len(ends) for ends in uploader.ends(poisoned)] == [1, 1]
    # Failures of the reader do not reach that point.
    other = await uploader.upload("a.pdf", b"%PDF-1.7 garbage")
    assert (await uploader.ended(other))["error"]["code"] == "document_corrupt"


async def test_a_killed_reader_fails_its_file_alone(cluster: Cluster, uploader: Uploader) -> None:
    cluster.stack.start("ingest")
    slow = await uploader.upload("slow.txt", b"Two tides a day, and one moon. " * 600_000)
    [reader] = await until(lambda: readers(cluster))
    reader.send_signal(signal.SIGKILL)
    shape = await uploader.ended(slow)
    assert (shape["status"], shape["error"]["code"]) == ("failed", "document_limits")
    assert (await uploader.ended(await uploader.upload("a.txt", TEXT)))["status"] == "ready"


async def test_a_killed_worker_takes_its_readers_with_it_and_another_reads_the_file(
    cluster: Cluster, uploader: Uploader
) -> None:
    cluster.stack.start("ingest", "ingest.killed")
    slow = await uploader.upload("slow.txt", b"Two tides a day, and one moon. " * 600_000)
    [reader] = await until(lambda: readers(cluster))
    for process in [
        psutil.Process(cluster.stack.processes["ingest.killed"].pid),
        *pool_of(cluster, "ingest.killed"),
    ]:
        process.send_signal(signal.SIGKILL)
    await until(lambda: not reader.is_running())
    cluster.kill_for_good("ingest.killed")
    cluster.stack.start("ingest")
    assert (await uploader.ended(slow))["status"] == "ready"
    assert [len(ends) for ends in uploader.ends(slow)] == [1, 1]


@pytest.mark.parametrize("told", ["the main process", "every process"])
async def test_a_worker_that_is_told_to_end_returns_its_file_at_once(
    cluster: Cluster, uploader: Uploader, told: str
) -> None:
    """As another loss would not: without waiting for the lease, and without a failure that counts against the file."""
    cluster.stack.start("ingest", "ingest.ended")
    cluster.kill("sweeper")
    slow = await uploader.upload("slow.txt", b"Two tides a day, and one moon. " * 600_000)
    [reader] = await until(lambda: readers(cluster))
    pool = pool_of(cluster, "ingest.ended")
    cluster.stack.signal("ingest.ended", signal.SIGTERM)
    for process in [*pool, reader] if told == "every process" else []:
        process.send_signal(signal.SIGTERM)
    status = await asyncio.to_thread(cluster.wait_for_exit, "ingest.ended")
    assert status == 0, cluster.stack.log("ingest.ended")
    assert not reader.is_running()
    [left] = cluster.rows(
        "SELECT status, error_code, lease_until, attempt, failures FROM knowledge_file WHERE id = %s", slow
    )
    assert left == ("processing", "", None, 1, 0)
    # Nothing but the message in the queue makes another worker read it: the sweeper is gone.
    cluster.stack.start("ingest")
    assert (await uploader.ended(slow))["status"] == "ready"
    [(attempt, failures)] = cluster.rows("SELECT attempt, failures FROM knowledge_file WHERE id = %s", slow)
    assert (attempt, failures) == (2, 0)
    assert [len(ends) for ends in uploader.ends(slow)] == [1, 1]


async def test_a_file_deleted_while_it_is_read_ends_its_reader(cluster: Cluster, uploader: Uploader) -> None:
    cluster.stack.start("ingest")
    slow = await uploader.upload("slow.txt", b"Two tides a day, and one moon. " * 600_000)
    await until(lambda: readers(cluster))
    assert (await uploader.ask("DELETE", f"files/{slow}/")).status_code == 204
    await until(lambda: not readers(cluster))
    assert uploader.ends(slow) == [[], []]
    cluster.wait_until(lambda: slow not in blobs(cluster), "its blob to go")


async def test_a_lost_and_a_repeated_message_change_nothing(cluster: Cluster, uploader: Uploader) -> None:
    pk = await uploader.upload("a.txt", TEXT)
    cluster.redis().delete(INGEST_QUEUE)
    cluster.stack.start("ingest")
    assert (await uploader.ended(pk))["status"] == "ready"
    await asyncio.to_thread(deliver, cluster, pk, 5)
    other = await uploader.upload("b.txt", TEXT)
    await uploader.ended(other)
    assert [len(ends) for ends in uploader.ends(pk)] == [1, 1]


async def test_web_killed_after_the_upload_loses_nothing(cluster: Cluster, uploader: Uploader) -> None:
    pk = await uploader.upload("a.txt", TEXT)
    cluster.kill("web")
    cluster.stack.start("web")
    cluster.stack.wait_until_ready()
    cluster.stack.start("ingest")
    async with asyncio.timeout(120):
        while (await uploader.ask("GET", f"files/{pk}/")).json()["status"] != "ready":  # noqa: ASYNC110  another process
            await asyncio.sleep(0.2)
    assert all(len(ends) <= 1 for ends in uploader.ends(pk))


async def until(condition: Any) -> Any:
    async with asyncio.timeout(60):
        while not (found := condition()):  # noqa: ASYNC110  of another process
            await asyncio.sleep(0.02)
    return found


def deliver(cluster: Cluster, pk: str, times: int) -> None:
    """Send the same message to the queue as often."""
    with kombu.Connection(cluster.redis_url) as connection, connection.SimpleQueue(INGEST_QUEUE) as queue:
        for number in range(times):
            headers = {"task": EXTRACT_FILE, "id": f"{pk}-{number}", "lang": "py"}
            body = ((), {"file_id": pk}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None})
            queue.put(body, headers=headers, serializer="json")
